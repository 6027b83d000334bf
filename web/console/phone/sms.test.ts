import assert from 'node:assert/strict'
import { test } from 'node:test'
import { button, consolePage, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { aCandidate, campaigner, pass } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'

test('a text message is shown as it arrives: text, numbers to answer with and a link, and nothing to press', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const run = await campaigner(app)
  const { mandate_id } = await run.mandate({ channels: ['sms'], languages: ['en', 'hi'] })
  const { campaign } = await run.campaign(mandate_id, [aCandidate(1)])
  await pass(app, 500)
  const recruiter = await memberOf(app, run.orgId, 'recruiter')
  const viewer = await memberOf(app, run.orgId, 'viewer')
  const base = `/orgs/${run.orgId}/test`
  const { candidate_id } = (await run.get(`/campaigns/${campaign.campaign_id}/candidates`)).body.data.items[0]

  const said = async (who = recruiter) =>
    (await who.get(`${base}/phone/${candidate_id}`)).body.data.messages.map(({ text }: any) => text)
  const [first] = await said()
  assert.match(
    first,
    /Reply STOP .*\n\n1\. Yes\n2\. No\nReply with the number of your answer\.\nAnswer here: http\S+\/c\/[\w-]{40,}$/,
  )
  const [withheld] = await said(viewer)
  assert.match(withheld, /Answer here: http:\S+\/…$/, 'who may only look is not let in')

  const page = await consolePage(t, app, { email: recruiter.email })
  await page.goto(`${app.url}/console/${run.orgId}/test/phone/${candidate_id}`)
  const messages = page.getByRole('log', { name: 'Messages' })
  await messages.getByText('1. Yes').waitFor()
  assert.equal(await messages.getByRole('list').count(), 0)
  assert.match((await messages.getByRole('link').getAttribute('href'))!, /\/c\//)
  await look(page, 'phone-sms')
  // Answered as one answers a text message.
  await page.getByLabel('Answer in words').fill('1')
  await button(page, 'Send').click()
  await messages.getByText('Which language would you like to use?').waitFor()
  await button(page, '2. हिन्दी').click()
  await messages.getByText('अपने जवाब का नंबर भेजें').waitFor()
  const all = await said()
  assert.match(all[0], /Answer here: /, 'what was written before stays as it was written')
  assert.match(all[2], /Answer here: /)
  assert.doesNotMatch(all.at(-1), /Answer here/)

  await page.goto(`${app.url}/console/${run.orgId}/test/candidates/${candidate_id}`)
  await page.getByRole('region', { name: 'Conversation' }).getByText('1. Yes').waitFor()
  await look(page, 'conversation-sms')
})
