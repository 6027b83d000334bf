import { sql } from 'kysely'
import type { Mode } from '../../access/keys.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { blindIndexOf } from '../../people/identity/blind-index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { EndorsementType } from '../schema.ts'
import type { EvidenceCode } from './evidence.ts'
import { detectRings, type EndorsementEdge, type Ring, type RingEvidence, type ringKinds } from './ring-detection.ts'

/** `dismissed`: the operator decided that the group is harmless. `ended`: the latest run did not find it again. */
export const ringStatuses = ['open', 'dismissed', 'ended'] as const
export type RingStatus = (typeof ringStatuses)[number]

const BATCH_SIZE = 5000

/** Searches all endorsements for rings, stores new ones, and ends those that are no longer found. */
export async function updateAllRings({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  for (const mode of ['live', 'test'] as const) {
    const rings = await detectRings(readEndorsements(db, mode))
    await db.transaction(async (tx) => {
      await lockRings(tx, mode)
      const foundIds: string[] = []
      for (const ring of rings) foundIds.push(await storeRing(tx, clock, mode, ring, foundIds))
      await sql`update endorsement_rings set status = 'ended', updated_at = ${new Date(clock.now())}
        where mode = ${mode} and status = 'open' and ring_id <> all (${foundIds}::text[])`.execute(tx)
    })
  }
}

async function* readEndorsements(db: Database, mode: Mode): AsyncGenerator<EndorsementEdge> {
  for (let lastId = ''; ; ) {
    const { rows } = await sql<EndorsementEdge & { verification_id: string }>`
      select verification_id, reviewer_mailbox as reviewer, student_mailbox as student, endorsement_type as type, facts
      from endorsements where mode = ${mode} and verification_id > ${lastId}
      order by verification_id limit ${BATCH_SIZE}`.execute(db.queries)
    yield* rows
    if (rows.length < BATCH_SIZE) return
    lastId = rows.at(-1)!.verification_id
  }
}

async function lockRings(tx: Tx, mode: Mode): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`endorsement rings ${mode}`}, 0))`.execute(tx)
}

/** Two findings are the same ring if at least this share of their combined members is in both. */
const MIN_SHARED_RATIO = 0.5

/** Stores a finding, as an update of a ring with mostly the same members if there is one, and returns the ring's ID. */
async function storeRing(tx: Tx, clock: Clock, mode: Mode, ring: Ring, takenIds: string[] = []): Promise<string> {
  const now = clock.now()
  const { rows: candidates } = await sql<{ ring_id: string; members: string[]; status: RingStatus }>`
    select ring_id, members, status from endorsement_rings
    where mode = ${mode} and members && ${ring.members}::text[] and ring_id <> all (${takenIds}::text[])
    order by updated_at desc limit 50`.execute(tx)
  const newMembers = new Set(ring.members)
  const known = candidates.find(({ members }) => {
    const sharedCount = members.filter((member) => newMembers.has(member)).length
    return sharedCount / (members.length + newMembers.size - sharedCount) >= MIN_SHARED_RATIO
  })
  // A dismissed group counts as harmless until somebody joins it.
  const isStillDismissed =
    known?.status === 'dismissed' && ring.members.every((member) => known.members.includes(member))
  const row = {
    kind: ring.kind,
    members: isStillDismissed ? known.members : ring.members,
    score: ring.score,
    evidence: JSON.stringify(ring.evidence),
    status: isStillDismissed ? 'dismissed' : 'open',
    updated_at: new Date(now),
  }
  if (known) {
    await tx.updateTable('endorsement_rings').set(row).where('ring_id', '=', known.ring_id).execute()
    return known.ring_id
  }
  const ringId = newId('RG_', now)
  await tx
    .insertInto('endorsement_rings')
    .values({ ring_id: ringId, mode, found_at: new Date(now), ...row })
    .execute()
  return ringId
}

const MAX_PEOPLE_NEARBY = 1000
const MAX_EDGES_NEARBY = 20_000

/**
 * Looks for a ring that a new endorsement closes, among the people up to three endorsements away from the student and two from the
 * reviewer. The nightly run sees everything else, such as two endorsements that are stored at the same time.
 */
export async function findNewRing(
  tx: Tx,
  clock: Clock,
  mode: Mode,
  { reviewerEmail, studentEmail }: { reviewerEmail: string; studentEmail: string },
): Promise<void> {
  const [reviewer, student] = [blindIndexOf(tx).mailbox(reviewerEmail), blindIndexOf(tx).mailbox(studentEmail)]
  const after = await expand(tx, mode, student, 'reviewer_mailbox', 'student_mailbox', 3)
  const before = await expand(tx, mode, reviewer, 'student_mailbox', 'reviewer_mailbox', 2)
  if (![...before].some((mailbox) => after.has(mailbox))) return
  const nearby = [...new Set([...after, ...before])]
  const { rows } = await sql<EndorsementEdge>`
    select reviewer_mailbox as reviewer, student_mailbox as student, endorsement_type as type, facts from endorsements
    where mode = ${mode} and reviewer_mailbox = any (${nearby}::text[]) and student_mailbox = any (${nearby}::text[])
    limit ${MAX_EDGES_NEARBY}`.execute(tx)
  const rings = (await detectRings(rows)).filter(
    ({ members }) => members.includes(reviewer) && members.includes(student),
  )
  if (rings.length === 0) return
  await lockRings(tx, mode)
  for (const ring of rings) await storeRing(tx, clock, mode, ring)
}

type MailboxColumn = 'reviewer_mailbox' | 'student_mailbox'

/** Returns the mailboxes that can be reached from one by following endorsements in one direction. */
async function expand(
  tx: Tx,
  mode: Mode,
  origin: string,
  from: MailboxColumn,
  to: MailboxColumn,
  maxDepth: number,
): Promise<Set<string>> {
  const reached = new Set([origin])
  let frontier = [origin]
  for (let depth = 0; depth < maxDepth && frontier.length > 0 && reached.size < MAX_PEOPLE_NEARBY; depth++) {
    const { rows } = await sql<{ mailbox: string }>`
      select distinct ${sql.ref(to)} as mailbox from endorsements
      where mode = ${mode} and ${sql.ref(from)} = any (${frontier}::text[]) limit ${MAX_PEOPLE_NEARBY}`.execute(tx)
    frontier = rows.map(({ mailbox }) => mailbox).filter((mailbox) => !reached.has(mailbox))
    for (const mailbox of frontier) reached.add(mailbox)
  }
  return reached
}

interface RingRow {
  ring_id: string
  mode: Mode
  kind: (typeof ringKinds)[number]
  status: RingStatus
  members: string[]
  score: number
  evidence: RingEvidence
  note: string | null
  noted_by: string | null
  noted_at: Date | null
  found_at: Date
  updated_at: Date
}

const ringColumns = sql`ring_id, mode, kind, status, members, score, evidence, note, noted_by, noted_at, found_at, updated_at`

export interface RingFilter {
  status?: RingStatus | undefined
  mode?: Mode | undefined
  /** The ID of the last ring on the previous page. */
  beforeId?: string | undefined
  limit: number
}

/** Returns rings, newest first, without the addresses of their members. */
export async function listRings(queries: Queries, { status, mode, beforeId, limit }: RingFilter) {
  const conditions = [sql`true`]
  if (status !== undefined) conditions.push(sql`status = ${status}`)
  if (mode !== undefined) conditions.push(sql`mode = ${mode}`)
  if (beforeId !== undefined) conditions.push(sql`ring_id < ${beforeId}`)
  const { rows } = await sql<RingRow>`
    select ${ringColumns} from endorsement_rings
    where ${sql.join(conditions, sql` and `)} order by ring_id desc limit ${limit}`.execute(queries)
  return rows.map(ringRecord)
}

/** Returns a ring and the endorsements between its members, without their addresses. */
export async function getRing(queries: Queries, ringId: string) {
  const row = await selectRing(queries, ringId)
  const { rows: endorsements } = await sql<{
    verification_id: string
    org_id: string
    reviewer_mailbox: string
    student_mailbox: string
    endorsement_type: EndorsementType
    facts: EvidenceCode[]
    endorsed_at: Date
  }>`
    select verification_id, org_id, reviewer_mailbox, student_mailbox, endorsement_type, facts, endorsed_at
    from endorsements
    where mode = ${row.mode} and reviewer_mailbox = any (${row.members}::text[]) and student_mailbox = any (${row.members}::text[])
    order by endorsed_at, verification_id limit 500`.execute(queries)
  return {
    ...ringRecord(row),
    endorsements: endorsements.map((endorsement) => ({
      verification_id: endorsement.verification_id,
      org_id: endorsement.org_id,
      reviewer: describeMember(row.members, endorsement.reviewer_mailbox),
      student: describeMember(row.members, endorsement.student_mailbox),
      endorsement_type: endorsement.endorsement_type,
      facts: endorsement.facts,
      endorsed_at: endorsement.endorsed_at.toISOString(),
    })),
  }
}

async function selectRing(queries: Queries, ringId: string): Promise<RingRow> {
  const { rows } = await sql<RingRow>`
    select ${ringColumns} from endorsement_rings where ring_id = ${ringId}`.execute(queries)
  if (!rows[0]) throw problem('NOT_FOUND', `Ring ${ringId} not found.`)
  return rows[0]
}

/** Returns the number of a member in the ring, and the beginning of the hash of their mailbox: the address is not stored. */
function describeMember(members: string[], mailbox: string): string {
  return `${members.indexOf(mailbox) + 1}: ${mailbox.slice(0, 8)}`
}

function ringRecord({ members, evidence, noted_at, found_at, updated_at, ...row }: RingRow) {
  return {
    ...row,
    score: Math.round(row.score * 10) / 10,
    size: members.length,
    members: members.map((mailbox) => describeMember(members, mailbox)),
    evidence: {
      endorsements: evidence.endorsements,
      expected_endorsements: evidence.expectedEndorsements,
      reciprocal_pairs: evidence.reciprocalPairs,
      shortest_cycle: evidence.shortestCycle,
      inside_share: evidence.insideShare,
      superior_relations: evidence.superiorRelations,
      free_or_disposable_mail: evidence.freeOrDisposableMail,
      quick_answers: evidence.quickAnswers,
      same_device_or_network: evidence.sameDeviceOrNetwork,
    },
    noted_at: noted_at?.toISOString() ?? null,
    found_at: found_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

export interface RingNote {
  note?: string | undefined
  status?: 'open' | 'dismissed' | undefined
  by: string
}

/** Stores the operator's note or decision. A dismissed ring no longer weakens the evidence of its endorsements. */
export async function noteRing(tx: Tx, clock: Clock, ringId: string, { note, status, by }: RingNote) {
  const { mode } = await selectRing(tx, ringId)
  await lockRings(tx, mode)
  const current = await selectRing(tx, ringId)
  if (status !== undefined && current.status === 'ended')
    throw problem('CONFLICT', `Ring ${ringId} has ended, so its status cannot be changed.`)
  await tx
    .updateTable('endorsement_rings')
    .set({
      note: note ?? current.note,
      status: status ?? current.status,
      noted_by: by,
      noted_at: new Date(clock.now()),
    })
    .where('ring_id', '=', ringId)
    .execute()
  return getRing(tx, ringId)
}
