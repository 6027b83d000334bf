import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  BRICKLAYING,
  expectOk,
  PLASTERING,
  sharedVerification,
  startVerification,
  type TestSession,
  type VerificationCalls,
  verificationCalls,
} from '../../../test/support/verification.ts'
import { DAY, MINUTE } from '../../platform/clock.ts'
import { openEmailDomains } from './email-domains.ts'
import { addMissingEndorsements } from './endorsements.ts'
import { EVIDENCE_TABLE } from './evidence.ts'
import { deleteOldOrigins } from './origins.ts'

const setUp = sharedVerification()
let studentCount = 0

interface ReviewOptions {
  type?: string
  student?: object
  reviewer?: object
  /** Time from the email to the response. */
  answerAfterMs?: number
}

/** Has a new student endorsed, and returns the session. */
async function endorse(calls: VerificationCalls, options: ReviewOptions = {}): Promise<TestSession> {
  const { type = 'manager', reviewer = {}, student = {}, answerAfterMs = DAY } = options
  const email = `student${++studentCount}@college.example`
  const { session, token } = await calls.requestReview({
    type,
    reviewer,
    student: { externalStudentId: email, email, ...student },
  })
  calls.clock.advance(answerAfterMs)
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
  return session
}

async function evidenceOf(calls: VerificationCalls, session: TestSession) {
  const { evidenceLevel, reasons } = await calls.getVerification(session)
  return `${evidenceLevel}: ${reasons.map(({ code }: { code: string }) => code).join(' ')}`
}

test('the level follows from address, website, relation and time', async () => {
  const calls = await setUp()
  const website = 'https://www.metro.co.in/about'
  const cases: [ReviewOptions, string][] = [
    [{ reviewer: { email: 'a@mail.metro.co.in', website } }, 'strong: company_domain saw_the_work'],
    [{ reviewer: { email: 'a@other.co.in', website } }, 'moderate: other_domain saw_the_work'],
    [{ reviewer: { email: 'a@metro.co.in' } }, 'moderate: no_website saw_the_work'],
    [{ type: 'peer', reviewer: { email: 'a2@metro.co.in', website } }, 'moderate: company_domain peer_relation'],
    [{ reviewer: { email: 'a@gmail.com', website } }, 'moderate: free_mail saw_the_work'],
    [{ reviewer: { email: 'a2@gmail.com', website: 'https://gmail.com' } }, 'moderate: free_mail saw_the_work'],
    [{ type: 'peer', reviewer: { email: 'a3@gmail.com' } }, 'weak: free_mail peer_relation'],
    [{ reviewer: { email: 'a@mailinator.com' } }, 'weak: disposable_mail saw_the_work'],
    [{ reviewer: { email: 'a@x.yopmail.com' } }, 'weak: disposable_mail saw_the_work'],
    [
      { reviewer: { email: 'a@asha.github.io', website: 'https://ravi.github.io' } },
      'moderate: other_domain saw_the_work',
    ],
    [
      { reviewer: { email: 'a@bücher.example', website: 'https://xn--bcher-kva.example' } },
      'strong: company_domain saw_the_work',
    ],
    [
      { reviewer: { email: 'a3@metro.co.in', website }, answerAfterMs: 2 * MINUTE - 1 },
      'moderate: company_domain saw_the_work quick_answer',
    ],
    [
      { reviewer: { email: 'a4@metro.co.in', website }, answerAfterMs: 2 * MINUTE },
      'strong: company_domain saw_the_work',
    ],
    [{ reviewer: { email: 'a4@gmail.com' }, answerAfterMs: MINUTE }, 'weak: free_mail saw_the_work quick_answer'],
  ]
  for (const [options, expected] of cases) {
    const session = await endorse(calls, options)
    assert.equal(await evidenceOf(calls, session), expected, JSON.stringify(options))
  }
})

test('session, verification and event have the level and its reasons; reviews without endorsement have none', async () => {
  const calls = await setUp()
  const session = await endorse(calls, { reviewer: { email: 'a@gmail.com' }, answerAfterMs: 10 * MINUTE })
  const evidence = {
    evidenceLevel: 'moderate',
    reasons: [
      {
        code: 'free_mail',
        effect: 'weakens',
        text: 'The reviewer uses a mail service where anyone can open a mailbox.',
      },
      {
        code: 'saw_the_work',
        effect: 'supports',
        text: 'The reviewer is a manager, mentor, client or teacher of the student.',
      },
    ],
  }
  const evidenceIn = ({ evidenceLevel, reasons }: typeof evidence) => ({ evidenceLevel, reasons })
  assert.deepEqual(evidenceIn(await calls.getVerification(session)), evidence)
  assert.deepEqual(evidenceIn(await calls.getFullVerification(session)), evidence)
  const [requestedEvent, completedEvent] = await calls.listEvents()
  assert.ok(!('evidenceLevel' in requestedEvent!.data))
  assert.deepEqual(evidenceIn(completedEvent!.data), evidence)

  const rejected = await calls.requestReview({ student: { externalStudentId: 'rejected' } })
  await expectOk(
    calls.submitReview(rejected.session, rejected.token, { decisions: [{ skillId: BRICKLAYING, endorsed: false }] }),
  )
  const declined = await calls.requestReview({ student: { externalStudentId: 'declined' } })
  await expectOk(calls.submitReview(declined.session, declined.token, { declined: true, reason: 'No' }))
  for (const { session: other } of [rejected, declined]) {
    assert.ok(!('evidenceLevel' in (await calls.getVerification(other))))
    assert.ok(!('reasons' in (await calls.getFullVerification(other))))
  }
  assert.ok((await calls.listEvents()).slice(2).every(({ data }) => !('evidenceLevel' in data)))
})

test('an endorsement in return weakens both, with any spelling of the addresses', async () => {
  const calls = await setUp()
  const first = await endorse(calls, {
    student: { email: 'mina.shah@gmail.com' },
    reviewer: { email: 'tom.lee@gmail.com' },
  })
  assert.equal(await evidenceOf(calls, first), 'moderate: free_mail saw_the_work')
  const second = await endorse(calls, {
    student: { email: 'tomlee+cv@googlemail.com' },
    reviewer: { email: 'minashah@gmail.com' },
  })
  assert.equal(await evidenceOf(calls, second), 'weak: free_mail saw_the_work mutual')
  assert.equal(await evidenceOf(calls, first), 'weak: free_mail saw_the_work mutual')
})

test('a reviewer whose mailbox the student uses later is shown as the student', async () => {
  const calls = await setUp()
  const student = { externalStudentId: 'stu-9', email: 'nina@college.example' }
  const session = await endorse(calls, { student, reviewer: { email: 'second.nina@gmail.com' } })
  assert.equal(await evidenceOf(calls, session), 'moderate: free_mail saw_the_work')
  await calls.openSession({ ...student, email: 'SecondNina+jobs@gmail.com' })
  assert.equal(await evidenceOf(calls, session), 'weak: free_mail saw_the_work reviewer_is_student')
})

test('a mailbox that endorses many students is marked, unless it is that of a teacher', async () => {
  const calls = await setUp()
  const reviewers = { manager: 'busy@crowd.example', faculty: 'teacher@school.example' }
  for (const [type, email] of Object.entries(reviewers)) {
    const sessions: TestSession[] = []
    for (let count = 1; count <= 21; count++) {
      sessions.push(await endorse(calls, { type, reviewer: { email }, answerAfterMs: 3 * MINUTE }))
      if (count === 20) assert.equal(await evidenceOf(calls, sessions[0]!), 'moderate: no_website saw_the_work')
    }
    const expected =
      type === 'manager' ? 'moderate: no_website saw_the_work many_endorsements' : 'moderate: no_website saw_the_work'
    assert.equal(await evidenceOf(calls, sessions[20]!), expected)
    calls.clock.advance(90 * DAY)
    const later = await endorse(calls, { type, reviewer: { email } })
    assert.equal(await evidenceOf(calls, later), 'moderate: no_website saw_the_work', 'only 90 days count')
  }
})

test('a review from the network or the device of the student is marked, and only hashes are stored', async (t) => {
  const calls = await startVerification(t, { config: { trustProxy: ['127.0.0.1'] } })
  const { db } = calls.app.context
  const chrome = { 'user-agent': 'Chrome/150', 'accept-language': 'en-IN' }
  const from = (address: string, browser: object = chrome) => ({ 'x-forwarded-for': address, ...browser })

  async function reviewFrom(studentHeaders: object, reviewerHeaders: object, name: string) {
    calls.clock.advance(MINUTE)
    const session = await calls.openSession({ externalStudentId: name, email: `${name}@college.example` })
    const sendAsStudent = (path: string, body: object) =>
      expectOk(
        calls.call('POST', path, {
          token: session.token,
          headers: studentHeaders as Record<string, string>,
          body: { sessionToken: session.token, serviceVerificationId: session.id, ...body },
        }),
      )
    await sendAsStudent('/step1/storeskills/store', { skills: [{ skillId: BRICKLAYING }, { skillId: PLASTERING }] })
    await sendAsStudent('/step2/verification-method', { verificationMethod: 'human' })
    await sendAsStudent('/step3/store-verification-items/store', { workExperienceIds: ['w-1'] })
    await sendAsStudent('/storereviewerdetails/store', {
      name: 'Ravi',
      email: `ravi-${name}@metro.example`,
      company: 'Metro',
    })
    const token = await calls.getReviewToken(session)
    calls.clock.advance(DAY)
    await expectOk(
      calls.call('POST', '/humanverification/submit', {
        headers: reviewerHeaders as Record<string, string>,
        body: {
          serviceVerificationId: session.id,
          token,
          decisions: [BRICKLAYING, PLASTERING].map((skillId) => ({ skillId, endorsed: true })),
        },
      }),
    )
    return evidenceOf(calls, session)
  }

  assert.equal(
    await reviewFrom(from('203.0.114.7'), from('203.0.114.7'), 'same-device'),
    'weak: no_website saw_the_work same_device',
  )
  assert.equal(
    await reviewFrom(from('203.0.114.8'), from('203.0.114.8', { 'user-agent': 'Safari/30' }), 'same-network'),
    'moderate: no_website saw_the_work same_network',
  )
  assert.equal(
    await reviewFrom(from('2a00:1450:4001:81a::1'), from('2a00:1450:4001:81a:ffff::2'), 'same-ipv6-network'),
    'weak: no_website saw_the_work same_device',
  )
  const unmarked = 'moderate: no_website saw_the_work'
  assert.equal(await reviewFrom(from('203.0.114.9'), from('203.0.115.9'), 'other-network'), unmarked)
  assert.equal(
    await reviewFrom(from('10.1.2.3'), from('10.1.2.3'), 'private-address'),
    unmarked,
    'probably a proxy that is not listed in TRUST_PROXY',
  )

  const storedOrigins = await db.queries.selectFrom('review_origins').selectAll().execute()
  assert.ok(storedOrigins.length > 0)
  assert.doesNotMatch(JSON.stringify(storedOrigins.map((row) => ({ ...row, seen_at: '' }))), /203\.0|Chrome|en-IN/)
  calls.clock.advance(88 * DAY)
  await db.transaction((tx) => deleteOldOrigins(tx, calls.clock.now()))
  assert.ok((await db.queries.selectFrom('review_origins').select('role').execute()).length > 0)
  calls.clock.advance(8 * DAY)
  await db.transaction((tx) => deleteOldOrigins(tx, calls.clock.now()))
  assert.deepEqual(await db.queries.selectFrom('review_origins').select('role').execute(), [])
})

test('endorsements of TEST mode do not affect those of LIVE mode', async () => {
  const calls = await setUp()
  const { app, orgId } = calls
  const testKey = await app.fixtures.createSessionKey(orgId, 'test')
  const testCalls = verificationCalls(app, orgId, testKey)
  const people = { student: { email: 'uma@gmail.com' }, reviewer: { email: 'vik@gmail.com' } }
  const liveSession = await endorse(calls, people)
  const returned = { student: { email: 'vik@gmail.com' }, reviewer: { email: 'uma@gmail.com' } }
  const testSession = await endorse(testCalls, returned)
  assert.equal(await evidenceOf(calls, liveSession), 'moderate: free_mail saw_the_work')
  assert.equal(await evidenceOf(testCalls, testSession), 'moderate: free_mail saw_the_work')
})

test('reviews that were submitted before evidence existed get theirs from the job', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const session = await endorse(calls, { reviewer: { email: 'a@gmail.com' } })
  await context.db.queries.deleteFrom('endorsements').where('verification_id', '=', session.id).execute()
  assert.ok(!('evidenceLevel' in (await calls.getVerification(session))))
  await addMissingEndorsements(context)
  assert.equal(await evidenceOf(calls, session), 'moderate: free_mail saw_the_work')
})

test('operators can add disposable domains in a file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'domains-'))
  t.after(() => rm(folder, { recursive: true }))
  const disposableDomainsFile = join(folder, 'domains.txt')
  await writeFile(disposableDomainsFile, '# seen last week\nthrowaway.example\n\nBÜCHER.example # another one\n')
  const calls = await startVerification(t, { config: { disposableDomainsFile } })
  for (const email of ['a@throwaway.example', 'a@xn--bcher-kva.example', 'a@mailinator.com'])
    assert.match(await evidenceOf(calls, await endorse(calls, { reviewer: { email } })), /^weak: disposable_mail/)

  await writeFile(disposableDomainsFile, 'fine.example\nnot a domain\n')
  await assert.rejects(openEmailDomains(disposableDomainsFile), /DISPOSABLE_DOMAINS_FILE: line 2: "not a domain"/)
  await assert.rejects(openEmailDomains(join(folder, 'absent')), /DISPOSABLE_DOMAINS_FILE: cannot read/)
})

test('the domain lists are sorted, without duplicates, and a domain is in one list only', () => {
  const readList = (name: string) =>
    readFileSync(new URL(`../../../data/email/${name}.txt`, import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
  const lists = [readList('free-mail-domains'), readList('disposable-domains')]
  for (const list of lists) assert.deepEqual(list, [...new Set(list)].sort())
  assert.deepEqual(
    lists[0]!.filter((domain) => lists[1]!.includes(domain)),
    [],
  )
})

test('the reference lists every reason with its points', () => {
  const reference = readFileSync(new URL('../../../docs/reference/endorsement-evidence.md', import.meta.url), 'utf8')
  const documented = [...reference.matchAll(/^\| `([a-z_]+)` +\| (.+?) +\| (.+?) +\|$/gm)].map(
    ([, code, text, points]) => [
      code,
      { text, points: points === 'always weak' ? -100 : Number(points!.replace('−', '-')) },
    ],
  )
  assert.deepEqual(Object.fromEntries(documented), EVIDENCE_TABLE)
})
