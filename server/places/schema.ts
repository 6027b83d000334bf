import { Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'

const PINCODE_PATTERN = '^\\d{6}$'

/** A value that a mandate can have, with its label for forms. */
export const Choice = named('Choice', Type.Object({ value: Type.String(), label: Type.String() }))

export const Country = named(
  'Country',
  Type.Object({ code: Type.String({ pattern: '^[A-Z]{2}$' }), name: Type.String() }),
)

export const Location = named(
  'Location',
  Type.Object({
    city: Type.String(),
    district: Type.String(),
    state: Type.String(),
    pincode: Type.String({
      pattern: PINCODE_PATTERN,
      description: 'A pincode of the place; the requested pincode if the query has one.',
    }),
  }),
)

export const LocationQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      pattern: NOT_BLANK_PATTERN,
      description:
        'The start of the name of a place or district, or of a pincode. Former names, common names and small typos also match.',
    }),
  ),
  state: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      description:
        'Return only places in this state or union territory. A name or common abbreviation; case is ignored.',
    }),
  ),
  pincode: Type.Optional(
    Type.String({ pattern: PINCODE_PATTERN, description: 'Return only places with this pincode.' }),
  ),
  ...pageQuery,
})
