import { Type } from 'typebox'
import { listOf, success } from '../platform/answers.ts'
import type { App } from '../platform/http.ts'
import { employmentTypes, shifts } from './choices.ts'
import { countries } from './countries.ts'

const Choice = Type.Object({ value: Type.String(), label: Type.String() })
const Country = Type.Object({ code: Type.String({ pattern: '^[A-Z]{2}$' }), name: Type.String() })

const lookup = { scope: null, limit: 'reads' } as const

/** Lists that a partner's forms are filled from. */
export function lookupRoutes(app: App): void {
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
    async () => everything('Countries', countries()),
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
    async () => everything('Employment types', employmentTypes),
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
    async () => everything('Shifts', shifts),
  )
}

function everything<T>(message: string, items: T[]) {
  return { success: true as const, message, data: { items, next_cursor: null } }
}
