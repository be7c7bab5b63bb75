/** The struct of `POST /orders`, as code without a schema library checks it. @module */

/** A line of an order. */
export interface OrderItem {
  /** Not empty. */
  readonly sku: string;
  /** At least 1. */
  readonly quantity: number;
  /** Not negative. */
  readonly price: number;
}

/** An order to create: ten fields, and a list that is not empty. */
export interface NewOrder {
  /** Not empty. */
  readonly customer: string;
  readonly email: string;
  readonly street: string;
  readonly city: string;
  readonly postcode: string;
  /** Two characters. */
  readonly country: string;
  /** Three characters. */
  readonly currency: string;
  /** 0 to 9. */
  readonly priority: number;
  /** In percent, 0 to 100. */
  readonly discount: number;
  readonly gift: boolean;
  readonly items: readonly OrderItem[];
}

/** True if a parsed JSON body has the fields of a new order. Additional fields are allowed. */
export function isNewOrder(value: unknown): value is NewOrder {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const order: Partial<Record<keyof NewOrder, unknown>> = value;
  return hasAddress(order) && hasTerms(order) && Array.isArray(order.items) && areItems(order.items);
}

function hasAddress(order: Partial<Record<keyof NewOrder, unknown>>): boolean {
  const { customer, email, street, city, postcode, country } = order;
  return (
    typeof customer === "string" &&
    customer.length > 0 &&
    typeof email === "string" &&
    typeof street === "string" &&
    typeof city === "string" &&
    typeof postcode === "string" &&
    typeof country === "string" &&
    country.length === 2
  );
}

function hasTerms({ currency, priority, discount, gift }: Partial<Record<keyof NewOrder, unknown>>): boolean {
  return (
    typeof currency === "string" &&
    currency.length === 3 &&
    typeof priority === "number" &&
    Number.isSafeInteger(priority) &&
    priority >= 0 &&
    priority <= 9 &&
    typeof discount === "number" &&
    discount >= 0 &&
    discount <= 100 &&
    typeof gift === "boolean"
  );
}

function areItems(items: readonly unknown[]): boolean {
  return items.length > 0 && items.every(isItem);
}

function isItem(value: unknown): boolean {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const { sku, quantity, price }: Partial<Record<keyof OrderItem, unknown>> = value;
  return (
    typeof sku === "string" &&
    sku.length > 0 &&
    typeof quantity === "number" &&
    Number.isSafeInteger(quantity) &&
    quantity >= 1 &&
    typeof price === "number" &&
    price >= 0
  );
}
