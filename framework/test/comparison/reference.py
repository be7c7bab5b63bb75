"""The application of app.ts as FastAPI has it. Takes a folder of files; prints the port that it serves on."""

import asyncio
import socket
import sys
from datetime import date, datetime
from enum import Enum
from typing import List, Optional

import uvicorn
from fastapi import (
    APIRouter,
    BackgroundTasks,
    Body,
    Cookie,
    Depends,
    FastAPI,
    File,
    Form,
    Header,
    HTTPException,
    Path,
    Query,
    Request,
    Response,
    UploadFile,
    WebSocket,
    WebSocketDisconnect,
)
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    StreamingResponse,
)
from fastapi.security import APIKeyCookie, HTTPBasic, HTTPBearer, OAuth2PasswordBearer, OAuth2PasswordRequestForm
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field

folder = sys.argv[1]
app = FastAPI()


class Color(str, Enum):
    red = "red"
    green = "green"


class Item(BaseModel):
    name: str
    price: float
    tags: List[str] = []


class User(BaseModel):
    username: str


class Public(BaseModel):
    username: str
    disabled: bool = False


class Strict(BaseModel):
    count: int
    ratio: float = 0.5
    flag: bool = False
    note: Optional[str] = None
    when: Optional[datetime] = None


class Teapot(Exception):
    pass


@app.exception_handler(Teapot)
async def teapot(request: Request, error: Teapot):
    return JSONResponse({"teapot": True}, status_code=418)


@app.get("/json")
async def json():
    return {"a": 1, "b": [True, None], "c": "é"}


@app.get("/null")
async def null():
    return None


@app.get("/float")
async def float_():
    return {"whole": 1.0, "part": 1.5, "large": 1e21}


@app.get("/string")
async def string():
    return "text"


@app.get("/plain", response_class=PlainTextResponse)
async def plain():
    return "hello"


@app.get("/html", response_class=HTMLResponse)
async def html():
    return "<p>hello</p>"


@app.get("/items/{item_id}")
async def item(item_id: int):
    return {"item_id": item_id}


@app.get("/prices/{price}")
async def price(price: float):
    return {"price": price}


@app.get("/flags/{flag}")
async def flag(flag: bool):
    return {"flag": flag}


@app.get("/names/{name}")
async def name(name: str):
    return {"name": name}


@app.get("/colors/{color}")
async def color(color: Color):
    return {"color": color}


@app.get("/positive/{n}")
async def positive(n: int = Path(gt=0)):
    return {"n": n}


@app.get("/days/{day}")
async def day(day: date):
    return {"day": day}


@app.get("/users/me")
async def me():
    return "me"


@app.get("/users/{user_id}")
async def user(user_id: str):
    return user_id


@app.get("/search")
async def search(q: str, skip: int = 0, note: Optional[str] = None, tags: List[str] = Query([])):
    return {"q": q, "skip": skip, "note": note, "tags": tags}


@app.get("/bounds")
async def bounds(n: int = Query(ge=1, le=10), s: str = Query("abc", min_length=2, max_length=5, regex="^[a-z]+$")):
    return {"n": n, "s": s}


@app.get("/alias")
async def alias(q: str = Query(alias="item-query")):
    return q


@app.get("/headers")
async def headers(user_agent: Optional[str] = Header(None), x_token: str = Header()):
    return {"user_agent": user_agent, "x_token": x_token}


@app.get("/header-list")
async def header_list(x_many: List[str] = Header([])):
    return x_many


@app.get("/cookies")
async def cookies(session: Optional[str] = Cookie(None)):
    return {"session": session}


@app.get("/cookie-key")
async def cookie_key(key: str = Depends(APIKeyCookie(name="key"))):
    return {"key": key}


@app.post("/item")
async def post_item(item: Item):
    return item


@app.post("/embedded")
async def embedded(item: Item = Body(embed=True)):
    return item


@app.post("/two")
async def two(item: Item, user: User, importance: int = Body()):
    return {"item": item, "user": user, "importance": importance}


@app.post("/list")
async def post_list(items: List[Item]):
    return items


@app.post("/strict")
async def strict(body: Strict):
    return body


@app.post("/optional")
async def optional(item: Optional[Item] = None):
    return item


@app.put("/items/{item_id}")
async def put_item(item_id: int, item: Item, q: Optional[str] = None):
    return {"item_id": item_id, "name": item.name, "q": q}


@app.post("/form")
async def form(username: str = Form(), age: int = Form(0)):
    return {"username": username, "age": age}


@app.post("/login")
async def login(form: OAuth2PasswordRequestForm = Depends()):
    return {"username": form.username, "scopes": form.scopes}


@app.post("/file")
async def file(upload: UploadFile):
    content = await upload.read()
    return {"filename": upload.filename, "type": upload.content_type, "size": len(content)}


@app.post("/files")
async def files(note: str = Form(), uploads: List[UploadFile] = File()):
    return {"note": note, "files": [upload.filename for upload in uploads]}


@app.post("/bytes")
async def bytes_(upload: bytes = File()):
    return len(upload)


@app.post("/created", status_code=201)
async def created():
    return {"created": True}


@app.delete("/gone", status_code=204)
async def gone():
    return None


@app.get("/public", response_model=Public)
async def public():
    return {"username": "ada", "password": "secret"}


@app.get("/teapot")
async def get_teapot():
    raise Teapot()


@app.get("/refused")
async def refused():
    raise HTTPException(409, {"reason": "taken"}, headers={"X-Reason": "taken"})


@app.get("/phrase")
async def phrase():
    raise HTTPException(404)


@app.get("/boom")
async def boom():
    raise ValueError("secret")


@app.get("/redirect")
async def redirect():
    return RedirectResponse("/json")


@app.get("/redirect/303")
async def redirect_303():
    return RedirectResponse("/names/é b", status_code=303)


@app.get("/set-cookie")
async def set_cookie(response: Response):
    response.set_cookie("session", "abc", httponly=True, max_age=60, path="/")
    response.headers["X-Draft"] = "yes"
    return {"set": True}


@app.get("/delete-cookie")
async def delete_cookie(response: Response):
    response.delete_cookie("session")
    return {"set": False}


@app.get("/draft-status")
async def draft_status(response: Response):
    response.status_code = 202
    return None


@app.get("/stream")
async def stream():
    async def parts():
        for part in ("a", "b", "c"):
            yield part

    return StreamingResponse(parts(), media_type="text/plain")


@app.get("/download")
async def download():
    return FileResponse(f"{folder}/data.txt", filename="data é.txt")


@app.get("/big")
async def big():
    return {"text": "x" * 2000}


@app.get("/state")
async def state(request: Request):
    return {"path": request.url.path, "query": str(request.url.query), "method": request.method}


@app.post("/raw")
async def raw(request: Request):
    return {"bytes": len(await request.body())}


async def common(q: Optional[str] = None, skip: int = 0):
    return {"q": q, "skip": skip}


async def nested(common: dict = Depends(common)):
    return {"nested": common}


@app.get("/depends")
async def depends(value: dict = Depends(nested)):
    return value


async def need_token(x_token: str = Header()):
    if x_token != "good":
        raise HTTPException(400, "X-Token header invalid")


@app.get("/guarded", dependencies=[Depends(need_token)])
async def guarded(n: int):
    return n


@app.get("/bearer")
async def bearer(token: str = Depends(OAuth2PasswordBearer(tokenUrl="login"))):
    return token


@app.get("/http-bearer")
async def http_bearer(credentials=Depends(HTTPBearer())):
    return credentials.credentials


@app.get("/basic")
async def basic(credentials=Depends(HTTPBasic())):
    return {"username": credentials.username}


@app.get("/background")
async def background(tasks: BackgroundTasks):
    tasks.add_task(lambda: None)
    return "done"


router = APIRouter(prefix="/v1")


@router.get("/things")
async def things():
    return ["a"]


@router.get("/slash/")
async def slash():
    return "slash"


app.include_router(router)

inner = FastAPI()


@inner.get("/here")
async def here(request: Request):
    return {"root_path": request.scope["root_path"]}


app.mount("/inner", inner)
app.mount("/static", StaticFiles(directory=folder, html=True))


@app.websocket("/ws/echo")
async def echo(ws: WebSocket):
    await ws.accept()
    try:
        while True:
            await ws.send_text(await ws.receive_text())
    except WebSocketDisconnect:
        pass


@app.websocket("/ws/protocol")
async def protocol(ws: WebSocket):
    await ws.accept(subprotocol=ws.scope["subprotocols"][0], headers=[(b"x-room", b"7")])
    await ws.send_json({"n": 1})


@app.websocket("/ws/bytes")
async def ws_bytes(ws: WebSocket):
    await ws.accept()
    await ws.send_bytes(await ws.receive_bytes())
    await ws.close(4321, "enough")


@app.websocket("/ws/typed/{n}")
async def typed(ws: WebSocket, n: int, q: str = Query()):
    await ws.accept()
    await ws.send_json({"n": n, "q": q})
    await ws.close()


@app.websocket("/ws/refused")
async def ws_refused(ws: WebSocket):
    await ws.close(1008)


@app.websocket("/ws/early")
async def ws_early(ws: WebSocket):
    await ws.close(4001, "early")


@app.websocket("/ws/guarded")
async def ws_guarded(ws: WebSocket, token: None = Depends(need_token)):
    await ws.accept()


@app.websocket("/ws/boom")
async def ws_boom(ws: WebSocket):
    await ws.accept()
    raise ValueError("secret")


@app.websocket("/ws/json")
async def ws_json(ws: WebSocket):
    await ws.accept()
    await ws.send_json(await ws.receive_json())


@app.websocket("/ws/end")
async def ws_end(ws: WebSocket):
    await ws.accept()
    await ws.send_text("last")


app.add_middleware(GZipMiddleware, minimum_size=1000)
app.add_middleware(
    CORSMiddleware,
    allow_origins=["https://a.example"],
    allow_methods=["GET", "POST"],
    allow_headers=["X-Token"],
    allow_credentials=True,
    expose_headers=["X-Draft"],
)


async def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    print(listener.getsockname()[1], flush=True)
    await task


asyncio.run(main())
