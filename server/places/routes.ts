import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../api/invalid.ts'
import type { Detail } from '../api/problem.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { unstorableReason } from '../platform/http/json.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import type { Vault } from '../platform/vault.ts'
import { employmentTypes, shifts } from './choices.ts'
import { listCountries } from './countries.ts'
import { locationIndex } from './locations.ts'
import { Choice, Country, Location, LocationQuery } from './schema.ts'

const lookupConfig = { scope: null, limit: 'reads' } as const

/** Adds the routes of lookup lists (locations, countries and other choices) for the forms of partner systems. */
export function lookupRoutes(app: App, { vault }: { vault: Vault }): void {
  app.get(
    '/locations',
    {
      config: lookupConfig,
      schema: {
        operationId: 'listLocations',
        tags: ['Lookups'],
        summary: 'List places in India',
        description:
          'Covers every state, union territory and civil pincode. With `q`, the best matches come first: the city with that name, ' +
          'cities whose name starts with it, districts, parts of cities, places in the state with that name, then similar names. ' +
          'Among equally good matches, better-known places come first. ' +
          'A city in several districts is listed once per district. ' +
          'Without `q`, returns the places of `state` or `pincode`, or all places, the best known first.',
        querystring: LocationQuery,
        response: { 200: success(listOf(Location)) },
      },
    },
    async ({ query: { q, state: stateName, pincode, limit, cursor } }) => {
      const state = stateName === undefined ? undefined : locationIndex().findState(stateName)
      const listName = `locations ${JSON.stringify([q, stateName, pincode])}`
      const offset = readCursor<number>(vault, listName, cursor) ?? 0
      const details: Detail[] = []
      const error = q === undefined ? undefined : unstorableReason(q)
      if (error) details.push({ path: 'query.q', message: error })
      if (stateName !== undefined && !state)
        details.push({ path: 'query.state', message: 'is not a state or union territory of India' })
      if (details.length > 0) throw invalid(details)
      const { items, hasMore } = locationIndex().search({ q, state, pincode }, offset, limit)
      const next_cursor = hasMore ? writeCursor(vault, listName, offset + limit) : null
      return { success: true as const, message: 'Locations', data: { items, next_cursor } }
    },
  )

  app.get(
    '/countries',
    {
      config: lookupConfig,
      schema: {
        operationId: 'listCountries',
        tags: ['Lookups'],
        summary: 'List countries',
        description:
          'All countries for jobs abroad: every ISO 3166-1 country except India, sorted by name, on one page.',
        response: { 200: success(listOf(Country)) },
      },
    },
    serveConstantList('Countries', listCountries()),
  )

  app.get(
    '/employment-types',
    {
      config: lookupConfig,
      schema: {
        operationId: 'listEmploymentTypes',
        tags: ['Lookups'],
        summary: 'List employment types',
        description:
          'Suggested values. Mandates also accept other values: these are stored as sent and cause a warning.',
        response: { 200: success(listOf(Choice)) },
      },
    },
    serveConstantList('Employment types', employmentTypes),
  )

  app.get(
    '/shifts',
    {
      config: lookupConfig,
      schema: {
        operationId: 'listShifts',
        tags: ['Lookups'],
        summary: 'List shifts',
        description:
          'Suggested values. Mandates also accept other values: these are stored as sent and cause a warning.',
        response: { 200: success(listOf(Choice)) },
      },
    },
    serveConstantList('Shifts', shifts),
  )
}

/** Serves a constant list, serialised once. */
function serveConstantList<T>(message: string, items: T[]) {
  const json = JSON.stringify({ success: true, message, data: { items, next_cursor: null } })
  return (_request: FastifyRequest, reply: FastifyReply) =>
    void reply.type('application/json; charset=utf-8').send(json)
}
