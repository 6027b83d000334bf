import { Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'

export const ModeSchema = named(
  'Mode',
  Type.Enum(['test', 'live'], { description: 'TEST keys read and write test data only, LIVE keys live data only.' }),
)

export const CreatedViaSchema = named(
  'CreatedVia',
  Type.Enum(['api', 'playground'], {
    description: '`api`: created through the API. `playground`: created in the console, and read-only in the API.',
  }),
)
