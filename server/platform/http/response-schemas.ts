import { type TSchema, Type } from 'typebox'
import { nameAfter, named } from './named-schemas.ts'

/** Returns the schema of a success response of the partner API. */
export function success<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), message: Type.String(), data }, nameAfter(data, 'Response'))
}

/** Returns the schema of one page of a list, with the cursor of the next page. */
export function listOf<T extends TSchema>(item: T) {
  return Type.Object(
    {
      items: Type.Array(item),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: 'Send it as `cursor` to get the next page. Null on the last page.',
      }),
    },
    nameAfter(item, 'List'),
  )
}

const Cursor = named('Cursor', Type.String({ maxLength: 2000, description: 'The `next_cursor` of the previous page.' }))
const PageLimit = named(
  'PageLimit',
  Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Maximum number of items on the page.' }),
)

/** The query parameters of a list. */
export const pageQuery = { limit: PageLimit, cursor: Type.Optional(Cursor) }
export const PageQuery = Type.Object(pageQuery)
