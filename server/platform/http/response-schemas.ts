import { type Static, type TSchema, Type } from 'typebox'

/** The partner API's success envelope. */
export function success<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), message: Type.String(), data })
}

/** A page of a list, and where the next one starts. */
export function listOf<T extends TSchema>(item: T) {
  return Type.Object({ items: Type.Array(item), next_cursor: Type.Union([Type.String(), Type.Null()]) })
}

export type { Static }
