import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertTraced, listBehind } from '../../test/support/analytics-drilldown.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { aCandidate, campaigner, pass, player } from '../../test/support/campaigns.ts'
import { CONSOLE, memberOf } from '../../test/support/console.ts'
import { pathsOf } from '../../test/support/partner.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import { foldChanges } from './rollups.ts'

const names = (items: any[]) => items.map(({ external_candidate_id }) => external_candidate_id)

function shortly({ status, reason, qualified, skills, interest, knocked_out_by: by }: any): string {
  const verdicts = [...new Set(skills.map(({ verdict }: any) => verdict))].join(' and ')
  const said = qualified === null ? 'open' : qualified ? 'qualified' : 'not qualified'
  return `${status} ${reason} ${said}: ${verdicts} ${interest}${by ? `, ${by.key}: ${by.question}` : ''}`
}

async function aVariedRun(app: TestApp) {
  const one = await campaigner(app)
  const calls = {
    channels: ['voice', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  }
  const first = await one.mandate(calls as object)
  const second = await one.mandate({
    channels: ['whatsapp'],
    follow_ups: [{ after_hours: 4, channel: 'whatsapp' }],
  })
  const everyPart = Array.from({ length: 10 }, (_, index) => player(index + 1, index === 3 ? { language: 'hi' } : {}))
  app.clock.set('2026-03-11T18:29:50Z') // ten seconds to midnight in India
  const { campaign: parts } = await one.campaign(first.mandate_id, everyPart, { name: 'Every part' })
  const { campaign: few } = await one.campaign(second.mandate_id, [player(1), player(6), aCandidate(11)])
  app.clock.set('2026-03-11T18:30:01Z')
  await pass(app, 10_000)
  await one.enrol(few.campaign_id, [aCandidate(12), aCandidate(13, { external_candidate_id: 'ext-13' })])
  await pass(app, 1000)
  return { ...one, first, second, parts, few }
}

test('the lists behind the numbers of a varied run', async (t) => {
  const app = await startApp(t)
  const varied = await aVariedRun(app)

  await t.test(
    'every number is the sum of the list behind it, folded or not, whatever it is narrowed to',
    async (t) => {
      const { get, first, second, few } = varied
      let compared = 0
      const period = 'from=2026-03-11&to=2026-03-12'
      const compare = async (path: string, query: string, limit?: number) => {
        const { status, body } = await get(`${path}${path.includes('?') ? '&' : '?'}${period}`)
        assert.equal(status, 200, JSON.stringify(body))
        compared += await assertTraced(get, body.data, `${period}${query}`, limit)
      }
      const ofFirst = `/analytics/workflows/${first.workflow_id}/overview`
      const ofSecond = `/analytics/workflows/${second.workflow_id}/overview`
      await compare('/analytics/overview', '', 3)
      await compare(ofFirst, `&workflow_id=${first.workflow_id}`)
      await compare(`${ofSecond}?mandate_id=${second.mandate_id}`, `&mandate_id=${second.mandate_id}`)
      const all = `workflow_id=${second.workflow_id}&mandate_id=${second.mandate_id}&campaign_id=${few.campaign_id}`
      await compare(`${ofSecond}?mandate_id=${second.mandate_id}&campaign_id=${few.campaign_id}`, `&${all}`)
      assert.ok((await app.context.db.transaction((tx) => foldChanges(tx, 10_000))) > 0)
      await compare('/analytics/overview', '')
      const oneDay = 'from=2026-03-12&to=2026-03-12'
      compared += await assertTraced(get, (await get(`/analytics/overview?${oneDay}`)).body.data, oneDay)
      t.diagnostic(`${compared} numbers compared`)
    },
  )

  await t.test('who stands behind a number, and how often', async () => {
    const { get, parts, few, first } = varied
    const behind = async (counted: string) => {
      const items = await listBehind(get, counted, `campaign_id=${parts.campaign_id}`)
      return Object.fromEntries(items.map((item) => [item.external_candidate_id, item.times]))
    }
    assert.deepEqual(await behind('drop_offs.no_response'), { 'ext-6': 1, 'ext-8': 1 })
    assert.deepEqual(await behind('languages.hi.completed'), { 'ext-4': 1 })
    assert.deepEqual(await behind('daily.2026-03-12.declined'), { 'ext-5': 1, 'ext-10': 1 })
    assert.deepEqual(await behind('daily.2026-03-11.declined'), {})
    const sent = await listBehind(get, 'channels.whatsapp.sent', `campaign_id=${few.campaign_id}`)
    assert.deepEqual(sent.find(({ external_candidate_id }) => external_candidate_id === 'ext-6').times, 2, 'and again')
    const skillsDone = await behind('funnel.skills_done')
    assert.equal(skillsDone['ext-2'], 1, 'who was knocked out is done with what was skipped')
    assert.deepEqual(Object.values(await behind('calls.total_seconds')), Array(7).fill(30))

    const { body } = await get(`/analytics/candidates?counted=funnel.qualified&campaign_id=${parts.campaign_id}`)
    assert.deepEqual(names(body.data.items), ['ext-9', 'ext-4', 'ext-1'], 'the newest first')
    const { candidate_id, result_id, ...rest } = body.data.items[2]
    assert.deepEqual(rest, {
      campaign_id: parts.campaign_id,
      mandate_id: first.mandate_id,
      name: 'Person 1',
      external_candidate_id: 'ext-1',
      status: 'completed',
      reason: null,
      qualified: true,
      knocked_out_by: null,
      skills: rest.skills.map(({ skill_id, name }: any) => ({ skill_id, name, verdict: 'verified' })),
      interest: 'interested',
      times: 1,
      campaign_name: 'Every part',
    })
    const result = (await get(`/results/${result_id}`)).body.data
    assert.equal(result.candidate.candidate_id, candidate_id)
  })

  await t.test('the list says what came of each and why, as the results do', async () => {
    const { get, parts } = varied
    const items = await listBehind(get, 'funnel.enrolled', `campaign_id=${parts.campaign_id}`)
    assert.deepEqual(Object.fromEntries(items.map((item) => [item.external_candidate_id, shortly(item)])), {
      'ext-1': 'completed null qualified: verified interested',
      'ext-2': 'completed null not qualified: not_asked null, licence: Do you hold a wireman licence?',
      'ext-3': 'completed null not qualified: not_verified interested',
      'ext-4': 'completed null qualified: verified not_interested',
      'ext-5': 'declined refused not qualified: not_asked null',
      'ext-6': 'failed no_response not qualified: not_asked null',
      'ext-7': 'failed expired not qualified: not_asked null',
      'ext-8': 'failed unreachable not qualified: not_asked null',
      'ext-9': 'completed null qualified: verified interested',
      'ext-10': 'declined stopped not qualified: not_asked null',
    })
    const waiting = await listBehind(get, 'funnel.enrolled', `campaign_id=${varied.few.campaign_id}`)
    assert.equal(
      shortly(waiting.find((item) => item.external_candidate_id === 'ext-13')),
      'pending null open: not_asked null',
    )
    for (const { result_id, reason, qualified, skills, interest } of items) {
      const { reason: why, output } = (await get(`/results/${result_id}`)).body.data
      assert.deepEqual([reason, qualified, interest], [why, output.qualified, output.interest])
      assert.deepEqual(
        skills,
        output.skills.map(({ skill_id, name, verdict }: any) => ({ skill_id, name, verdict })),
      )
    }
  })
})

test('lists of candidates that were counted', async (t) => {
  const app = await startApp(t)

  await t.test('somebody who changes the language moves over to its list', async () => {
    const { context } = app
    const one = await campaigner(app)
    const { mandate_id } = await one.mandate({ languages: ['en', 'hi'] })
    await one.campaign(mandate_id, [aCandidate(1), aCandidate(2)])
    await pass(app, 500)
    const [{ candidate_id }] = await listBehind(one.get, 'languages.en.candidates')
    const speak = (language: 'en' | 'hi') =>
      context.db.transaction(async (tx) => {
        const candidate = (await lockCandidacy(tx, candidate_id))!
        await handleReply(tx, context, candidate, { channel: 'page', input: { kind: 'language', language } })
      })
    await speak('hi')
    assert.deepEqual(names(await listBehind(one.get, 'languages.en.candidates')), ['ext-1'])
    assert.deepEqual(names(await listBehind(one.get, 'languages.hi.candidates')), ['ext-2'])
    await speak('en')
    assert.deepEqual(names(await listBehind(one.get, 'languages.en.candidates')), ['ext-2', 'ext-1'])
    assert.deepEqual(await listBehind(one.get, 'languages.hi.candidates'), [])
  })

  await t.test('what names no number is refused, and says what can stand there', async () => {
    const { get } = await campaigner(app)
    const refused = async (query: string) => {
      const { status, body } = await get(`/analytics/candidates?${query}`)
      return [status, ...(body.error?.details ?? []).map(({ path, message }: any) => `${path} ${message}`)]
    }
    assert.deepEqual(await refused(''), [400, 'query.counted is required'])
    assert.deepEqual(await refused('counted=calls.average_seconds'), [
      400,
      'query.counted must be calls.{placed|answered|no_answer|busy|failed|total_seconds}',
    ])
    assert.deepEqual(await refused('counted=channels.whatsapp'), [
      400,
      'query.counted must be channels.{whatsapp|voice|sms|email}.{sent|delivered|read|replied|failed}',
    ])
    const [, all] = await refused('counted=responded')
    for (const part of [
      'funnel.{enrolled|',
      'channels.{',
      'follow_ups.{1|2|3|4|5}.{',
      'calls.{',
      'drop_offs.{',
      'daily.{',
    ])
      assert.ok(all.includes(part), all)
    const strange = [
      'funnel',
      'funnel.',
      'funnel.Enrolled',
      'funnel.enrolled.',
      'funnel_enrolled',
      'follow_ups.0.sent',
      'follow_ups.6.sent',
      'drop_offs.skills.candidates',
      'languages.fr.completed',
      'daily.2026-03-11',
      'daily.2026-03-11.contacted',
      'constructor',
      '__proto__.x',
      'daily.today.enrolled',
      '%00',
      `${'a'.repeat(101)}`,
      'funnel.enrolled&counted=funnel.completed',
    ]
    for (const counted of strange)
      assert.deepEqual(pathsOf(await get(`/analytics/candidates?counted=${counted}`)), ['query.counted'], counted)

    assert.deepEqual(await refused('counted=daily.2026-02-30.enrolled&from=2026-02-20&to=2026-03-05'), [
      400,
      'query.counted names a day that is not in the period, 2026-02-20 to 2026-03-05',
    ])
    assert.equal((await refused('counted=daily.2026-03-06.enrolled&to=2026-03-05'))[0], 400)
    assert.deepEqual(await refused('counted=daily.2026-03-05.enrolled&to=2026-03-05'), [200])
    assert.deepEqual(await refused('counted=funnel.no&limit=0'), [
      400,
      'query.limit must be at least 1',
      `query.counted ${(await refused('counted=funnel.no'))[1].replace('query.counted ', '')}`,
    ])
    // Periods are refused as in the overview, word for word.
    for (const period of [
      'from=2026-02-30',
      'from=2026-03-02&to=2026-03-01',
      'from=2025-01-01&to=2026-01-02',
      'to=soon',
    ]) {
      const { error } = (await get(`/analytics/overview?${period}`)).body
      assert.deepEqual((await get(`/analytics/candidates?counted=funnel.enrolled&${period}`)).body.error, error)
    }
  })

  await t.test('nobody reads the lists of others, nor of the other mode', async () => {
    const one = await campaigner(app)
    const other = await campaigner(app)
    const live = await campaigner(app, { orgId: one.orgId, mode: 'live' })
    const mine = await one.mandate()
    const second = await one.mandate()
    const theirs = await other.mandate()
    const { campaign } = await one.campaign(mine.mandate_id, [aCandidate(1)])
    const stranger = (await other.campaign(theirs.mandate_id, [aCandidate(2), aCandidate(3)])).campaign
    const path = '/analytics/candidates?counted=funnel.enrolled'

    assert.deepEqual(names((await one.get(path)).body.data.items), ['ext-1'])
    assert.deepEqual(names((await other.get(path)).body.data.items), ['ext-3', 'ext-2'])
    assert.deepEqual((await live.get(path)).body.data, { items: [], next_cursor: null })
    const asked = async (query: string, who = one) => {
      const answer = await who.get(`${path}&${query}`)
      return [answer.status, ...pathsOf(answer)]
    }
    assert.deepEqual(await asked(`workflow_id=${theirs.workflow_id}`), [400, 'query.workflow_id'])
    assert.deepEqual(await asked(`mandate_id=${theirs.mandate_id}`), [400, 'query.mandate_id'])
    assert.deepEqual(await asked(`campaign_id=${stranger.campaign_id}`), [400, 'query.campaign_id'])
    assert.deepEqual(await asked(`workflow_id=${mine.workflow_id}`, live), [400, 'query.workflow_id'])
    assert.deepEqual(await asked(`campaign_id=${campaign.campaign_id}`, live), [400, 'query.campaign_id'])
    assert.deepEqual(await asked(`workflow_id=${mine.workflow_id}&mandate_id=${second.mandate_id}`), [
      400,
      'query.mandate_id',
    ])
    assert.deepEqual(await asked(`mandate_id=${second.mandate_id}&campaign_id=${campaign.campaign_id}`), [
      400,
      'query.campaign_id',
    ])
    assert.deepEqual(await asked('workflow_id=x&campaign_id=y'), [400, 'query.workflow_id', 'query.campaign_id'])
    const { next_cursor } = (await other.get(`${path}&limit=1`)).body.data
    assert.deepEqual(await asked(`limit=1&cursor=${next_cursor}`), [400, 'query.cursor'])
    const reader = await app.given.key(one.orgId, { mode: 'test', scopes: ['campaigns:read', 'results:read'] })
    assert.equal((await app.as(reader).get(path)).status, 403)

    const viewer = await memberOf(app, one.orgId, 'viewer')
    const seen = await viewer.get(`/orgs/${one.orgId}/test${path}`)
    assert.deepEqual([seen.status, names(seen.body.data.items)], [200, ['ext-1']])
    assert.equal((await viewer.get(`/orgs/${other.orgId}/test${path}`)).status, 404)
    assert.equal((await app.fetch(`${CONSOLE}/orgs/${one.orgId}/test${path}`)).status, 401)
  })

  await t.test('pages go from the newest campaign to the oldest, and stay in their period past midnight', async () => {
    const { get, campaign, enrol, mandate } = await campaigner(app)
    const { mandate_id } = await mandate()
    app.clock.set('2026-03-10T06:00:00Z')
    const { campaign: older } = await campaign(mandate_id, [aCandidate(1), aCandidate(2)])
    app.clock.set('2026-03-11T06:00:00Z')
    await campaign(mandate_id, [aCandidate(3), aCandidate(4)])
    await enrol(older.campaign_id, [aCandidate(5)])
    assert.deepEqual(names(await listBehind(get, 'funnel.enrolled', '', 1)), [
      'ext-4',
      'ext-3',
      'ext-5',
      'ext-2',
      'ext-1',
    ])

    const path = '/analytics/candidates?counted=funnel.enrolled&limit=3'
    app.clock.set('2026-04-08T18:29:00Z') // the 30 days begin with the first enrolments, for a minute more
    const first = (await get(path)).body.data
    assert.deepEqual(names(first.items), ['ext-4', 'ext-3', 'ext-5'])
    app.clock.set('2026-04-08T18:31:00Z')
    assert.equal((await get('/analytics/overview')).body.data.funnel.enrolled, 3)
    const second = (await get(`${path}&cursor=${first.next_cursor}`)).body.data
    assert.deepEqual([names(second.items), second.next_cursor], [['ext-2', 'ext-1'], null])

    const other = path.replace('enrolled', 'contacted')
    for (const strange of [`${other}&cursor=${first.next_cursor}`, `${path}&to=2026-04-08&cursor=${first.next_cursor}`])
      assert.deepEqual(pathsOf(await get(strange)), ['query.cursor'])
  })
})
