import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { getOrganisation } from '../access/organisations.ts'
import { invalid } from '../api/invalid.ts'
import { Problem, problem } from '../api/problem.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import { noticeText } from '../notices/notice.ts'
import { personAudited } from '../people/audit.ts'
import { correctPerson } from '../people/correction.ts'
import { erasePerson } from '../people/erasure.ts'
import { getPerson } from '../people/people.ts'
import { restrictPerson } from '../people/restriction.ts'
import { MINUTE } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import type { Language } from '../platform/text/languages.ts'
import { linkErrors } from '../platform/text/links.ts'
import { isEmail } from '../verification/fields.ts'
import { withdrawConsents } from './consents.ts'
import {
  type AddressDeps,
  type ContactAddress,
  listContactAddresses,
  maskAddress,
  sendCode,
} from './contact-addresses.ts'
import type { Subject } from './subjects.ts'

export const requestActions = ['export', 'correct', 'erase', 'withdraw'] as const
export type RequestAction = (typeof requestActions)[number]

const CODE_VALID_MINUTES = 15
const CODE_DIGITS = 6
const MAX_ATTEMPTS = 5
/** Maximum number of requests of a person per day, so that the page cannot be used to send many messages to them. */
const MAX_REQUESTS_PER_DAY = 10

export type RequestDeps = AddressDeps

export interface NewRequest {
  action: RequestAction
  /** The kind of address that the code is sent to. */
  channel: ContactAddress['kind']
  /** A new email address, to which a second code is sent. */
  newEmail?: string | undefined
  language: Language
}

/** Starts a request: sends a code to a stored address of the person, and a second code to the new email address, if there is one. */
export async function startRequest(tx: Tx, deps: RequestDeps, subject: Subject, request: NewRequest) {
  const { action, channel, newEmail, language } = request
  const personId = requirePerson(subject)
  if (newEmail !== undefined && action !== 'correct')
    throw invalid([{ path: 'email', message: 'is accepted only if `action` is `correct`' }])
  if (newEmail !== undefined && !isEmail(newEmail))
    throw invalid([{ path: 'email', message: 'must be an email address, such as asha@example.com' }])
  const address = (await listContactAddresses(tx, deps, subject)).find(({ kind }) => kind === channel)
  if (!address)
    throw problem(
      'FORBIDDEN',
      `No code can be sent to your ${channel === 'phone' ? 'phone' : 'email address'}. Contact the organisation.`,
    )
  const now = deps.clock.now()
  await requireDailyLimit(tx, personId, now)
  const requestId = newId('PRQ_', now)
  const code = newCode()
  const newAddress: ContactAddress | undefined =
    newEmail === undefined ? undefined : { kind: 'email', address: newEmail }
  const ownCode = newAddress && newCode()
  await sql`insert into privacy_requests (request_id, org_id, mode, person_id, subject_kind, subject_id, action, channel, code_mac,
      new_code_mac, created_at, expires_at)
    values (${requestId}, ${subject.scope.orgId}, ${subject.scope.mode}, ${personId}, ${subject.kind}, ${subject.id}, ${action}, ${channel},
      ${deps.vault.mac(codeText(requestId, code), CODE_PURPOSE)},
      ${ownCode ? deps.vault.mac(codeText(requestId, ownCode, newEmail), CODE_PURPOSE) : null},
      ${new Date(now)}, ${new Date(now + CODE_VALID_MINUTES * MINUTE)})`.execute(tx)
  const { name: organisation } = await getOrganisation(tx, subject.scope.orgId)
  const title = noticeText(language, action)
  const textOf = (value: string) => noticeText(language, `message_${action}`, { code: value, organisation })
  await send(address, code)
  if (newAddress) await send(newAddress, ownCode!)
  return {
    request_id: requestId,
    sent_to: maskAddress(address),
    new_sent_to: newAddress ? newAddress.address : null,
    minutes: CODE_VALID_MINUTES,
  }

  async function send(to: ContactAddress, value: string) {
    const isSent = await sendCode(tx, deps, subject, to, { text: textOf(value), code: value, title, language })
    if (isSent === 'erased') throw erasedProblem()
    if (isSent === 'not_sent')
      throw problem(
        'FORBIDDEN',
        `No code can be sent to ${maskAddress(to)}: the address does not accept our emails, or has received too many today. Contact the organisation.`,
      )
  }
}

export interface Confirmation {
  code: string
  /** The code that was sent to the new email address. */
  newCode?: string | undefined
  name?: string | undefined
  email?: string | undefined
}

/**
 * Confirms a request with its code, and executes it. A second confirmation is rejected. The attempt is counted in a separate transaction,
 * so that attempts with wrong codes are counted although the call fails.
 */
export async function confirmRequest(
  db: Database,
  deps: RequestDeps,
  subject: Subject,
  requestId: string,
  confirmation: Confirmation,
): Promise<RequestAction> {
  const personId = requirePerson(subject)
  const { name, email } = confirmation
  const now = new Date(deps.clock.now())
  const action = await db.transaction(async (tx) => {
    const { rows } = await sql<{ action: RequestAction; code_mac: Buffer; new_code_mac: Buffer | null }>`
      update privacy_requests set attempts = attempts + 1
      where request_id = ${requestId} and person_id = ${personId} and subject_id = ${subject.id} and confirmed_at is null
        and attempts < ${MAX_ATTEMPTS} and expires_at > ${now}
      returning action, code_mac, new_code_mac`.execute(tx)
    const [row] = rows
    if (!row) return undefined
    const isCode = deps.vault.verifyMac(row.code_mac, codeText(requestId, confirmation.code), CODE_PURPOSE)
    const isNewCode =
      row.new_code_mac === null
        ? email === undefined
        : deps.vault.verifyMac(row.new_code_mac, codeText(requestId, confirmation.newCode ?? '', email), CODE_PURPOSE)
    return isCode && isNewCode ? row.action : undefined
  })
  if (action === undefined)
    throw problem('FORBIDDEN', 'This code is wrong or has expired. Check it, or request a new one.')
  if (action === 'correct') requireCorrection(name, email)
  await db.transaction(async (tx) => {
    const { rows } = await sql`update privacy_requests set confirmed_at = ${now}
      where request_id = ${requestId} and confirmed_at is null returning 1`.execute(tx)
    if (rows.length === 0) throw problem('ALREADY_SUBMITTED', 'This request has already been confirmed.')
    await carryOut(tx, deps, subject, personId, action, { name, email }).catch((error: unknown) => {
      throw forPerson(error, action)
    })
    await personAudited.run(tx, deps.clock, {
      scope: subject.scope,
      who: undefined,
      action: `person.${action}`,
      subject: personId,
      details: { requested_by: 'person', basis: BASIS, request: requestId, page: subject.kind },
    })
  })
  return action
}

/** The basis of requests in the audit log and in the list of erasures. */
const BASIS = 'request of the person, confirmed with a code'

async function carryOut(
  tx: Tx,
  deps: RequestDeps,
  subject: Subject,
  personId: string,
  action: RequestAction,
  changes: { name?: string | undefined; email?: string | undefined },
): Promise<void> {
  if (action === 'erase') {
    await requireNoHold(tx, subject, personId)
    await erasePerson(tx, deps, subject.scope, personId, { basis: BASIS, requestedBy: 'person' })
  }
  if (action === 'correct') await correctPerson(tx, deps, subject.scope, personId, changes)
  if (action !== 'withdraw') return
  await withdrawConsents(tx, deps.clock, personId)
  if (subject.kind === 'candidate') {
    const candidate = (await lockCandidacy(tx, subject.id))!
    await handleReply(tx, deps, candidate, { channel: 'page', input: { kind: 'stop' }, providerId: 'withdrawal' })
  }
  await restrictPerson(tx, deps, subject.scope, personId)
}

/** Replaces conflicts, whose messages are written for the organisation, with errors for the person. The page has no code for conflicts. */
function forPerson(error: unknown, action: RequestAction): unknown {
  if (!(error instanceof Problem) || error.code !== 'CONFLICT') return error
  return problem(
    'FORBIDDEN',
    action === 'correct'
      ? 'This email address is stored for another person. Contact the organisation.'
      : 'Your data was changed at the same time. Reload the page and try again.',
  )
}

/** Throws if the person has a legal hold, without its reason, which is internal to the organisation. */
async function requireNoHold(tx: Tx, { scope }: Subject, personId: string): Promise<void> {
  const { legal_hold } = await getPerson(tx, scope, personId)
  if (legal_hold !== null)
    throw problem(
      'FORBIDDEN',
      'The organisation must keep your data for a legal reason, so it cannot be erased now. Contact the organisation.',
    )
}

function requirePerson({ personId, isErased }: Subject): string {
  if (isErased) throw erasedProblem()
  if (personId === null)
    throw problem('SERVICE_UNAVAILABLE', 'This data is being migrated. Try again in a few minutes.', {
      retryAfter: 300,
    })
  return personId
}

export function erasedProblem() {
  return problem('LINK_EXPIRED', 'The data of this link was erased.')
}

function requireCorrection(name: string | undefined, email: string | undefined): void {
  if (name === undefined && email === undefined)
    throw invalid([{ path: 'name', message: 'is required if `email` is missing' }])
  const details = name === undefined ? [] : linkErrors([['name', name]])
  if (details.length > 0) throw invalid(details)
}

async function requireDailyLimit(tx: Tx, personId: string, now: number): Promise<void> {
  // Serialises the requests of a person, so that the count is exact.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`privacy requests ${personId}`}, 0))`.execute(tx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from privacy_requests
    where person_id = ${personId} and created_at > ${new Date(now - 24 * 60 * MINUTE)}`.execute(tx)
  if (rows[0]!.count >= MAX_REQUESTS_PER_DAY)
    throw problem('RATE_LIMITED', `You can request ${MAX_REQUESTS_PER_DAY} codes per day. Try again tomorrow.`, {
      retryAfter: 3600,
    })
}

const CODE_PURPOSE = 'code of a privacy request'

/** Returns the text that is authenticated: it binds a code to its request and, if it was sent to a new address, to that address. */
function codeText(requestId: string, code: string, newAddress = ''): string {
  return `${requestId} ${code.replace(/\s/g, '')} ${newAddress.toLowerCase()}`
}

function newCode(): string {
  return String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')
}
