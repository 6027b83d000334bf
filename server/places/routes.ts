import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Detail } from '../api/problem.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { unstorable } from '../platform/http/json.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { invalid, NOT_BLANK } from '../platform/http/validation.ts'
import type { Vault } from '../platform/vault.ts'
import { employmentTypes, shifts } from './choices.ts'
import { countries } from './countries.ts'
import { locations } from './locations.ts'

const Choice = Type.Object({ value: Type.String(), label: Type.String() })
const Country = Type.Object({ code: Type.String({ pattern: '^[A-Z]{2}$' }), name: Type.String() })

const Location = Type.Object({
  city: Type.String(),
  district: Type.String(),
  state: Type.String(),
  pincode: Type.String({ pattern: '^\\d{6}$', description: "One of the place's pincodes; the one asked for, if any." }),
})
const LocationQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      pattern: NOT_BLANK,
      description:
        'The beginning of a city, a district or a pincode. Former and common names and small misspellings are understood.',
    }),
  ),
  state: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      description: 'Only places of this state or union territory: its name or usual abbreviation, in any case.',
    }),
  ),
  pincode: Type.Optional(Type.String({ pattern: '^\\d{6}$', description: 'Only places with this pincode.' })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 500, description: 'The `next_cursor` of the page before.' })),
})

const lookup = { scope: null, limit: 'reads' } as const

/** Lists that a partner's forms are filled from. */
export function lookupRoutes(app: App, { vault }: { vault: Vault }): void {
  app.get(
    '/locations',
    {
      config: lookup,
      schema: {
        operationId: 'listLocations',
        tags: ['Lookups'],
        summary: 'Places in India',
        description:
          'Every state and union territory and every pincode. Best first: the city of that name, cities that start with it, ' +
          'districts, parts of cities, the state of that name, then misspellings; better known places before others. ' +
          'A city that spans districts is listed once for each. ' +
          'Without `q`, the places of a state or pincode, or all, by how well known they are.',
        querystring: LocationQuery,
        response: { 200: success(listOf(Location)) },
      },
    },
    async ({ query: { q, state: stateName, pincode, limit, cursor } }) => {
      const state = stateName === undefined ? undefined : locations().findState(stateName)
      const list = `locations ${JSON.stringify([q, stateName, pincode])}`
      const offset = readCursor<number>(vault, list, cursor) ?? 0
      const details: Detail[] = []
      const fault = q === undefined ? undefined : unstorable(q)
      if (fault) details.push({ path: 'query.q', message: fault })
      if (stateName !== undefined && !state)
        details.push({ path: 'query.state', message: 'is not a state or union territory of India' })
      if (details.length > 0) throw invalid(details)
      const { items, more } = locations().find({ q, state, pincode }, offset, limit)
      const next = more ? writeCursor(vault, list, offset + limit) : null
      return { success: true as const, message: 'Locations', data: { items, next_cursor: next } }
    },
  )

  app.get(
    '/countries',
    {
      config: lookup,
      schema: {
        operationId: 'listCountries',
        tags: ['Lookups'],
        summary: 'Countries an abroad job can be in',
        description: 'Every ISO 3166-1 country but India, by name, all at once.',
        response: { 200: success(listOf(Country)) },
      },
    },
    everything('Countries', countries()),
  )

  app.get(
    '/employment-types',
    {
      config: lookup,
      schema: {
        operationId: 'listEmploymentTypes',
        tags: ['Lookups'],
        summary: 'Employment types',
        description: 'A mandate may also carry another text; it is kept as sent and draws a warning.',
        response: { 200: success(listOf(Choice)) },
      },
    },
    everything('Employment types', employmentTypes),
  )

  app.get(
    '/shifts',
    {
      config: lookup,
      schema: {
        operationId: 'listShifts',
        tags: ['Lookups'],
        summary: 'Shifts',
        description: 'A mandate may also carry another text; it is kept as sent and draws a warning.',
        response: { 200: success(listOf(Choice)) },
      },
    },
    everything('Shifts', shifts),
  )
}

/** Answers a list that never changes, written out once. */
function everything<T>(message: string, items: T[]) {
  const json = JSON.stringify({ success: true, message, data: { items, next_cursor: null } })
  return (_request: FastifyRequest, reply: FastifyReply) =>
    void reply.type('application/json; charset=utf-8').send(json)
}
