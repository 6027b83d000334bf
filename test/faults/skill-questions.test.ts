import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { MIN_ITEMS } from '../../server/measurement/sequential-test.ts'
import { startApp } from '../support/app.ts'
import { candidatePage, inviteCandidates, keyIndex } from '../support/candidate.ts'
import { TestClock } from '../support/clock.ts'
import { aCandidate, createCampaignPartner } from '../support/partners.ts'
import { startServerProcess } from './server-process.ts'

/** When the server is killed, by the number of the question. The fifth item is drawn after the answers to the first four. */
const KILLS = new Map([
  [1, 'before the answer'],
  [4, 'during the answer'],
  [5, 'before the answer'],
])

test('a server that is killed between question and answer, or during the answer, neither changes nor repeats an item', {
  timeout: 290_000,
}, async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { config, db } = app.context
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate(
    {},
    { skills: [{ skill_id: 'sk_2001', verify: true }], methods: ['skill_verification'] },
  )
  const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(1)])
  const { token, getCandidacy } = invited!
  const startServer = async () => {
    const server = await startServerProcess(t, config, { ROLES: 'api' })
    return { ...server, page: candidatePage(server.url, token) }
  }

  let { child, page } = await startServer()
  let turn = await page.reply({ value: 'yes' })
  const askedItems: string[] = []
  let wasAnswerLost = false
  while (turn.prompts.at(-1).kind === 'choices') {
    const { state } = await getCandidacy()
    askedItems.push(state.skills[0]!.find(({ choice }) => choice === undefined)!.id)
    // One wrong answer makes the test longer than the items that are drawn in advance.
    const key = keyIndex(state)!
    const answer = { value: String(askedItems.length === 2 ? (key + 1) % 4 : key) }
    const id = { step: turn.step, client_id: randomUUID() }
    const kill = KILLS.get(askedItems.length)
    if (kill === 'during the answer') {
      const lostReply = page.reply(answer, id)
      lostReply.catch(() => {})
      await pause(Math.random() * 20)
      child.kill('SIGKILL')
      wasAnswerLost = await lostReply.then(
        () => false,
        () => true,
      )
    }
    if (kill === 'before the answer') child.kill('SIGKILL')
    if (kill) {
      ;({ child, page } = await startServer())
      const resumed = await page.view()
      if (kill === 'before the answer' || resumed.step === turn.step)
        assert.deepEqual([resumed.prompts, resumed.ahead], [turn.prompts, turn.ahead], 'the same item and options')
    }
    // The page sends an answer again if it got no response.
    const nextTurn = await page.reply(answer, id)
    assert.equal(nextTurn.step, turn.step + 1, 'the answer counts once')
    turn = nextTurn
  }

  const form = (await getCandidacy()).state.skills[0]!
  assert.ok(form.length > MIN_ITEMS)
  assert.deepEqual(
    form.map(({ id }) => id),
    askedItems,
  )
  assert.equal(new Set(askedItems).size, askedItems.length)
  const { status, output } = await invited!.getResult()
  const [{ asked, correct }] = output.skills
  assert.deepEqual([status, asked, correct], ['completed', form.length, form.length - 1])
  const responses = await db.queries.selectFrom('item_responses').select('item_id').orderBy('position').execute()
  assert.deepEqual(
    responses.map(({ item_id }) => item_id),
    askedItems,
    'each response is stored once',
  )
  t.diagnostic(`${askedItems.length} questions; the response to the answer was ${wasAnswerLost ? '' : 'not '}lost`)
})
