import { Type } from 'typebox'

/** Shapes that several routes of the console share. */

export const closed = { additionalProperties: false }

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 2000 })),
})

export const Mail = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@<>"(),:;]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$',
})

/** The envelope of every answer. */
export function answer<T>(message: string, data: T) {
  return { success: true as const, message, data }
}
