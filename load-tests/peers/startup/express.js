/** A program that imports Express and ends. @module */
export { default } from "express";
