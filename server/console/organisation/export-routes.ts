import { Readable } from 'node:stream'
import type { Static } from 'typebox'
import type { OwnerScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { listChanges, listResults, type Position } from '../../results/results.ts'
import { fits, narrowed, type Person, personRecord } from './recruiter-results.ts'
import { PeopleFilters } from './recruiter-results-routes.ts'

const PAGE = 500

const head = [
  'result_id',
  'campaign_id',
  'mandate_id',
  'job_id',
  'candidate_id',
  'external_candidate_id',
  'name',
  'phone',
  'email',
  'status',
  'reason',
  'qualified',
  'interest',
  'knocked_out_by',
  'skills',
  'answers',
  'language',
  'channel',
  'created_at',
  'started_at',
  'completed_at',
  'updated_at',
]

/** Results as a table for spreadsheets: written while it is read, however long it is. */
export function exportRoutes(app: App, { db }: Context): void {
  app.get(
    '/orgs/:org/:mode/export/results.csv',
    { config: { role: 'viewer' }, schema: { querystring: PeopleFilters } },
    async ({ caller, query }, reply) => {
      await listChanges(db, caller)
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="results-${caller.mode}.csv"`)
      return reply.send(Readable.from(lines(caller, query)) as never)
    },
  )

  async function* lines(scope: OwnerScope, { verdict, ...filter }: Static<typeof PeopleFilters>) {
    yield `\ufeff${head.join(',')}\r\n`
    let after: Position | undefined
    for (;;) {
      const page = await listResults(db.queries, scope, { ...narrowed(filter, verdict), after, limit: PAGE })
      const people = page.map(personRecord).filter((person) => fits(person, verdict))
      if (people.length > 0) yield people.map((person) => `${cellsOf(person).map(cell).join(',')}\r\n`).join('')
      const last = page.at(-1)
      if (page.length < PAGE || !last) return
      after = { listedAt: last.listed_at.toISOString(), resultId: last.result_id }
    }
  }
}

function cellsOf({ candidate, output, ...result }: Person): unknown[] {
  const skills = 'skills' in output ? output.skills : undefined
  const answers = 'enrichment' in output ? output.enrichment : undefined
  return [
    result.result_id,
    result.campaign_id,
    result.mandate_id,
    result.job_id,
    candidate.candidate_id,
    candidate.external_candidate_id,
    candidate.name,
    candidate.phone,
    candidate.email,
    result.status,
    result.reason,
    output.qualified,
    'interest' in output ? output.interest : null,
    Object.keys(answers ?? {}).find((key) => answers![key]!.knocked_out),
    skills?.map(({ name, verdict }) => `${name}: ${verdict}`).join('; '),
    Object.entries(answers ?? {})
      .map(([key, { answer }]) => `${key}: ${answer}`)
      .join('; '),
    output.language,
    output.channel,
    result.created_at,
    result.started_at,
    result.completed_at,
    result.updated_at,
  ]
}

const PHONE = /^\+\d{5,15}$/

/** A cell that a spreadsheet would take for a formula is made text: candidates write some of this. A number is none. */
function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value)
  const safe = !PHONE.test(text) && /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
