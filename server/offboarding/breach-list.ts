import { type RawBuilder, sql } from 'kysely'
import { findOrderById } from '../ats/orders.ts'
import { findCandidacy } from '../campaigns/candidacy.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries } from '../platform/database/database.ts'
import { csvCell } from '../platform/text/csv-cell.ts'
import { findReview } from '../verification/reviews/reviews.ts'
import { findVerification } from '../verification/sessions.ts'

/** The kinds of rows by which the people who are affected by a breach can be found. */
export const breachTables = [
  'candidates',
  'messages',
  'results',
  'sessions',
  'reviews',
  'events',
  'emails',
  'credentials',
  'orders',
] as const
export type BreachTable = (typeof breachTables)[number]

/** Selects from each table the person, the ID of the row, the IDs that a filter may name (its own and its parents'), and its time. */
const SELECTIONS: Record<BreachTable, RawBuilder<unknown>> = {
  candidates: sql`select person_id, org_id, candidate_id as id, array[candidate_id, campaign_id] as ids, enrolled_at as at
    from candidates`,
  messages: sql`select c.person_id, m.org_id, m.message_id as id, array[m.message_id, m.candidate_id, m.campaign_id] as ids, m.created_at as at
    from messages m join candidates c using (candidate_id)`,
  results: sql`select c.person_id, p.org_id, p.result_id as id, array[p.result_id, p.candidate_id, p.campaign_id, p.mandate_id] as ids,
      p.updated_at as at
    from candidate_progress p join candidates c using (candidate_id)`,
  sessions: sql`select person_id, org_id, verification_id as id, array[verification_id, user_id] as ids, created_at as at
    from verification_sessions`,
  reviews: sql`select r.person_id, s.org_id, r.verification_id as id, array[r.verification_id] as ids, coalesce(r.requested_at, s.created_at) as at
    from verification_reviews r join verification_sessions s using (verification_id)`,
  events: sql`select person.id as person_id, e.org_id, e.event_id as id, array[e.event_id] as ids, e.created_at as at
    from events e cross join lateral unnest(array[e.person_id, e.other_person_id]) as person (id)`,
  emails: sql`select person.id as person_id, m.org_id, m.mail_id as id, array[m.mail_id, m.about] as ids, m.created_at as at
    from mails m cross join lateral unnest(m.person_ids) as person (id)`,
  credentials: sql`select person_id, org_id, credential_id as id, array[credential_id, source_id] as ids, issued_at as at from credentials`,
  orders: sql`select coalesce(o.person_id, c.person_id) as person_id, o.org_id, o.order_id as id, array[o.order_id, o.candidate_id, o.campaign_id, o.mandate_id] as ids,
      o.created_at as at
    from ats_orders o left join candidates c using (candidate_id)`,
}

export interface BreachFilter {
  orgId?: string | undefined
  tables: readonly BreachTable[]
  /** IDs of rows, or of the campaigns and mandates that they belong to. Empty to include all rows. */
  ids: string[]
  from?: Date | undefined
  to?: Date | undefined
}

export interface AffectedPerson {
  org_id: string
  organisation: string
  mode: 'test' | 'live'
  person_id: string
  status: 'active' | 'restricted' | 'erased'
  name: string | null
  phone: string | null
  email: string | null
  records: number
  tables: string[]
}

/** Lists the people whose rows match, with the contact data that is needed to inform them. Erased people are listed without it. */
export async function* listAffectedPeople(
  queries: Queries,
  clock: Clock,
  { orgId, tables, ids, from, to }: BreachFilter,
): AsyncGenerator<AffectedPerson> {
  const rowsOfTables = sql.join(
    tables.map((name) => sql`select ${sql.lit(name)} as table_name, * from (${SELECTIONS[name]}) as ${sql.ref(name)}`),
    sql` union all `,
  )
  const { rows } = await sql<Omit<AffectedPerson, 'name' | 'phone' | 'email'>>`
    select o.org_id, g.name as organisation, o.mode, o.person_id,
      case when o.erased_at is not null then 'erased' when o.restricted_at is not null then 'restricted' else 'active' end as status,
      count(distinct (r.table_name, r.id))::int as records, array_agg(distinct r.table_name) as tables
    from (${rowsOfTables}) as r join people o on o.person_id = r.person_id join organisations g on g.org_id = o.org_id
    where (${orgId ?? null}::text is null or r.org_id = ${orgId ?? null})
      and (${ids.length === 0} or r.ids && ${ids}::text[])
      and (${from ?? null}::timestamptz is null or r.at >= ${from ?? null})
      and (${to ?? null}::timestamptz is null or r.at < ${to ?? null})
    group by o.org_id, g.name, o.mode, o.person_id, o.erased_at, o.restricted_at
    order by o.org_id, o.mode, o.person_id`.execute(queries)
  for (const row of rows) yield { ...row, ...(await readContact(queries, clock, row.person_id, row.status)) }
}

const NO_CONTACT = { name: null, phone: null, email: null }

/** Returns the name and addresses from the newest candidacy of a person; without one, from the newest session, then review. A rejected order has only the name. */
async function readContact(queries: Queries, clock: Clock, personId: string, status: AffectedPerson['status']) {
  if (status === 'erased') return NO_CONTACT
  const { rows } = await sql<{ kind: 'candidate' | 'session' | 'review' | 'order'; id: string }>`
    (select 'candidate' as kind, candidate_id as id from candidates where person_id = ${personId} order by candidate_id desc limit 1)
    union all (select 'session', verification_id from verification_sessions where person_id = ${personId} order by created_at desc limit 1)
    union all (select 'review', verification_id from verification_reviews where person_id = ${personId} order by requested_at desc limit 1)
    union all (select 'order', order_id from ats_orders where person_id = ${personId} order by order_id desc limit 1)`.execute(
    queries,
  )
  const found = ['candidate', 'session', 'review', 'order'].flatMap(
    (kind) => rows.find((row) => row.kind === kind) ?? [],
  )[0]
  if (found?.kind === 'candidate') {
    const { name, phone, email } = (await findCandidacy(queries, found.id))!
    return { name, phone, email }
  }
  if (found?.kind === 'session') {
    const { name, phone = null, email } = (await findVerification(queries, clock, found.id))!.student
    return { name, phone, email }
  }
  if (found?.kind === 'review') {
    const { name, phone = null, email } = (await findReview(queries, found.id))!
    return { name, phone, email }
  }
  if (found?.kind === 'order') return { ...NO_CONTACT, name: (await findOrderById(queries, found.id))!.candidate_name }
  return NO_CONTACT
}

const COLUMNS = [
  'organisation_id',
  'organisation',
  'mode',
  'person_id',
  'status',
  'name',
  'phone',
  'email',
  'records',
  'tables',
]

/** Formats the list as CSV, with a header line. */
export async function* breachListCsv(people: AsyncIterable<AffectedPerson>): AsyncGenerator<string> {
  yield `\ufeff${COLUMNS.join(',')}\r\n`
  for await (const { org_id, tables, ...person } of people) {
    const { organisation, mode, person_id, status, name, phone, email, records } = person
    const cells = [org_id, organisation, mode, person_id, status, name, phone, email, records, tables.join(' ')]
    yield `${cells.map(csvCell).join(',')}\r\n`
  }
}
