import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { registerChannel, SendError } from '../../server/channels/channel.ts'
import type { Config } from '../../server/config.ts'
import { HOUR, MINUTE } from '../../server/platform/clock.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { ADMIN_KEY, startApp } from '../support/app.ts'
import { callPartner } from '../support/call.ts'
import { aCandidate, campaigner, player } from '../support/campaigns.ts'
import { TestClock } from '../support/clock.ts'
import { recount, spread } from '../support/recount.ts'

// CRASH_CANDIDATES=2000 CRASH_ROUNDS=8 for the long run.
const CANDIDATES = Number(process.env.CRASH_CANDIDATES ?? 200)
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3)
const CREDITS = 10_000

/** What becomes of the ten test numbers. */
const parts: Record<string, string> = {
  '+919990000001': 'completed',
  '+919990000002': 'completed',
  '+919990000003': 'completed',
  '+919990000004': 'completed',
  '+919990000005': 'declined refused',
  '+919990000006': 'failed no_response',
  '+919990000007': 'failed expired',
  '+919990000008': 'failed unreachable',
  '+919990000009': 'completed',
  '+919990000010': 'declined stopped',
}

test('after kill -9 of server and worker amid campaigns everybody has one result, and everything adds up', {
  timeout: 290_000,
}, async (t) => {
  const clock = new TestClock(Date.now())
  const app = await startApp(t, { clock })
  const { context } = app
  const { db, config } = context
  const { key, scope, mandate, get } = await campaigner(app, { credits: CREDITS })
  const { mandate_id } = await mandate({
    channels: ['whatsapp', 'sms'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  })
  let processes = await startBoth(t, config)
  let over = false
  const enrolling = enrolAll()
  let midway = 0
  for (let round = 0; round < ROUNDS; round++) {
    await pause(1500 + Math.random() * 1500)
    if ((await pending(db)) > 0) midway++
    for (const { child } of processes) child.kill('SIGKILL')
    processes = await startBoth(t, config)
  }
  await enrolling
  over = true
  for (let tries = 0; (await pending(db)) > 0; tries++) {
    assert.ok(tries < 1200, `${await pending(db)} are pending still`)
    await pause(100)
  }
  for (const { child } of processes) child.kill('SIGKILL')
  assert.ok(midway > 0)

  await checkResults(db)
  await checkMessages(db)
  await checkEvents(db)
  await checkCredits(db)
  clock.set(Date.now())
  const [day, before] = [0, 24 * HOUR].map((ago) => new Date(Date.now() + 5.5 * HOUR - ago).toISOString().slice(0, 10))
  const { data } = (await get(`/analytics/overview?from=${before}&to=${day}`)).body
  assert.deepEqual(spread(data), await recount(db, scope, { from: before!, to: day! }))
  assert.equal(data.funnel.enrolled, CANDIDATES)
  t.diagnostic(`${CANDIDATES} candidates, killed amid campaigns in ${midway} of ${ROUNDS} rounds`)

  /** Ten people a campaign; a call whose answer was lost is made again under the same key until it is answered. */
  async function enrolAll() {
    for (let made = 0; made < CANDIDATES / 10; made++) {
      const idempotencyKey = randomBytes(12).toString('hex')
      const candidates = Array.from({ length: 10 }, (_, index) => player(index + 1))
      for (let answered = false; !answered && !over; ) {
        clock.set(Date.now())
        const api = callPartner(processes[0]!.url, key, clock)
        const answer = await api
          .post('/campaigns', { mandate_id, candidates }, { idempotencyKey })
          .catch(() => undefined)
        // 409: the call that was cut off may still be at work.
        answered = answer?.status === 202
        if (answer && !answered && answer.status !== 409) assert.fail(JSON.stringify(answer.body))
        if (!answered) await pause(100)
      }
    }
  }
})

async function pending(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from candidate_progress where status = 'pending'`.execute(db.queries)
  return rows[0]!.count
}

async function checkResults(db: Database) {
  const { rows } = await sql<{ phone: string; status: string; reason: string | null; count: number }>`
    select phone, status, reason, count(*) as count from candidates join candidate_progress using (candidate_id)
    group by 1, 2, 3`.execute(db.queries)
  const found = Object.fromEntries(
    rows.map(({ phone, status, reason, count }) => [`${phone} ${status}${reason ? ` ${reason}` : ''}`, count]),
  )
  const expected = Object.entries(parts).map(([phone, end]) => [`${phone} ${end}`, CANDIDATES / 10])
  assert.deepEqual(found, Object.fromEntries(expected), 'every part has come to its own end')
  const { rows: wrong } = await sql`
    select campaign_id from campaigns g join candidate_progress p using (campaign_id) group by campaign_id
    having g.pending <> 0 or g.completed <> count(*) filter (where p.status = 'completed')
      or g.declined <> count(*) filter (where p.status = 'declined') or g.failed <> count(*) filter (where p.status = 'failed')
      or g.completed_at is null`.execute(db.queries)
  assert.deepEqual(wrong, [], 'campaigns count what the results say')
}

async function checkMessages(db: Database) {
  const { rows: twice } = await sql`
    select candidate_id, contact_step, channel, count(*) from messages where direction = 'out' and contact_step is not null
    group by 1, 2, 3 having count(*) > 1`.execute(db.queries)
  assert.deepEqual(twice, [], 'nobody is contacted twice for one step')
  const { rows: repeated } = await sql`
    select candidate_id, conversation_step, count(*) from messages where direction = 'out' and contact_step is null
    group by 1, 2 having count(*) > 1`.execute(db.queries)
  assert.deepEqual(repeated, [], 'no question is put twice')
  const { rows: doubled } = await sql`
    select candidate_id, conversation_step, count(*) from messages where direction = 'in' group by 1, 2 having count(*) > 1`.execute(
    db.queries,
  )
  assert.deepEqual(doubled, [], 'no answer is given twice')
}

async function checkEvents(db: Database) {
  const { rows } = await sql<{ type: string; data: string }>`
    select type, data from events union all select type, data from event_outbox`.execute(db.queries)
  const told = (types: RegExp, id: 'result_id' | 'campaign_id') =>
    rows.filter(({ type }) => types.test(type)).map(({ data }) => JSON.parse(data)[id] as string)
  const { rows: results } = await sql<{ result_id: string }>`select result_id from candidate_progress`.execute(
    db.queries,
  )
  assert.deepEqual(told(/^result\./, 'result_id').sort(), results.map(({ result_id }) => result_id).sort())
  const { rows: campaigns } = await sql<{ campaign_id: string }>`select campaign_id from campaigns`.execute(db.queries)
  assert.deepEqual(told(/^campaign\./, 'campaign_id').sort(), campaigns.map(({ campaign_id }) => campaign_id).sort())
}

async function checkCredits(db: Database) {
  const { rows } = await sql<{ balance: number; sum: number; refunds: number; spent: number; unmet: number }>`
    select (select balance from credit_balances) as balance, sum(amount)::int as sum,
      count(*) filter (where reason = 'refund')::int as refunds, -sum(amount) filter (where reason = 'enrolment')::int as spent,
      (select count(*) from candidate_progress where stages = 0)::int as unmet
    from credit_entries`.execute(db.queries)
  const { balance, sum, refunds, spent, unmet } = rows[0]!
  assert.equal(spent, CANDIDATES)
  assert.equal(refunds, unmet, 'a credit back for everybody whom nothing reached')
  assert.equal(balance, CREDITS - spent + refunds)
  assert.equal(sum, balance)
}

interface Process {
  url: string
  child: ChildProcess
}

/** The server and the worker, as an operator starts them apart. */
function startBoth(t: TestContext, config: Config): Promise<Process[]> {
  return Promise.all(['api', 'worker'].map((roles) => start(t, config, roles)))
}

async function start(t: TestContext, config: Config, roles: string): Promise<Process> {
  const child = spawn(process.execPath, [new URL('../../server/main.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: '0',
      ROLES: roles,
      LOG_LEVEL: 'error',
      DATABASE_URL: config.databaseUrl,
      MASTER_KEY: config.masterKey!.toString('base64'),
      ADMIN_API_KEY: ADMIN_KEY,
    },
  })
  t.after(() => child.kill('SIGKILL'))
  let shown = ''
  for (;;) {
    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
    shown += chunk
    const url = /Attestry is running at (\S+)/.exec(shown)?.[1]
    if (url) return { url, child }
  }
}

test('a provider that is down for an hour: nothing is lost or sent twice, and follow-ups shift', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { campaign, mandate, get, scope } = await campaigner(app, { mode: 'live' })
  const { mandate_id } = await mandate({ follow_ups: [{ after_hours: 2, channel: 'whatsapp' }] })
  let down = true
  const taken: { to: string; step: number | undefined; at: number }[] = []
  registerChannel({
    name: 'whatsapp',
    async send({ to, contactStep, message_id }) {
      if (down) throw new SendError('busy', 'down')
      taken.push({ to, step: contactStep, at: clock.now() })
      return { providerId: message_id }
    },
  })
  const began = clock.now()
  await campaign(
    mandate_id,
    Array.from({ length: 30 }, (_, number) => aCandidate(number)),
  )
  for (; clock.now() < began + HOUR; clock.advance(MINUTE)) await contactNow(context)
  assert.equal((await get('/analytics/overview')).body.data.funnel.contacted, 0)
  down = false
  const up = clock.now()
  for (; clock.now() < up + 3 * HOUR; clock.advance(MINUTE)) await contactNow(context)

  assert.equal(new Set(taken.map(({ to, step }) => `${to} ${step}`)).size, 60)
  assert.equal(taken.length, 60, 'each message once')
  const first = new Map(taken.filter(({ step }) => step === 0).map(({ to, at }) => [to, at]))
  for (const at of first.values())
    assert.ok(at >= up && at <= up + 11 * MINUTE, 'within the longest pause between tries')
  for (const { to, at } of taken.filter(({ step }) => step === 1)) {
    const wait = at - first.get(to)!
    assert.ok(wait >= 2 * HOUR && wait <= 2 * HOUR + MINUTE, 'two hours after the message that got through')
  }
  const { data } = (await get('/analytics/overview')).body
  assert.deepEqual(data.channels, [{ channel: 'whatsapp', sent: 60, delivered: 0, read: 0, replied: 0, failed: 0 }])
  const today = data.daily.at(-1).date
  assert.deepEqual(spread(data), await recount(context.db, scope, { from: today, to: today }))
})
