import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, getButton, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'

test('an SMS is shown as plain text with numbered options and a link, without buttons', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ channels: ['sms'], languages: ['en', 'hi'] })
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1)])
  await passTime(app, 500)
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const base = `/orgs/${partner.orgId}/test`
  const { candidate_id } = (await partner.get(`/campaigns/${campaign.campaign_id}/candidates`)).body.data.items[0]

  const messageTexts = async (member = recruiter) =>
    (await member.get(`${base}/phone/${candidate_id}`)).body.data.messages.map(({ text }: any) => text)
  const [first] = await messageTexts()
  assert.match(
    first,
    /Reply STOP .*\n\n1\. Yes\n2\. No\n3\. Not now\nReply with the number of your answer\.\nAnswer here: http\S+\/c\/[\w-]{40,}\nYour data and your rights: http\S+\/c\/[\w-]{40,}\/data$/,
  )
  const [withheld] = await messageTexts(viewer)
  assert.match(
    withheld,
    /Answer here: http:\S+\/…\nYour data and your rights: http:\S+\/…\/data$/,
    'a viewer does not see the links',
  )

  const page = await openConsolePage(t, app, { email: recruiter.email })
  await page.goto(`${app.url}/console/${partner.orgId}/test/phone/${candidate_id}`)
  const messages = page.getByRole('log', { name: 'Messages' })
  await messages.getByText('1. Yes').waitFor()
  assert.equal(await messages.getByRole('list').count(), 0)
  assert.match((await messages.getByRole('link').first().getAttribute('href'))!, /\/c\//)
  await checkPage(page, 'phone-sms')
  // Answer with a number, as in an SMS.
  await page.getByLabel('Type an answer').fill('1')
  await getButton(page, 'Send').click()
  await messages.getByText('Which language would you like to use?').waitFor()
  await getButton(page, '2. हिन्दी').click()
  await messages.getByText('अपने जवाब का नंबर भेजें').waitFor()
  const texts = await messageTexts()
  assert.match(texts[0], /Answer here: /, 'earlier messages do not change')
  assert.match(texts[2], /Answer here: /)
  assert.doesNotMatch(texts.at(-1), /Answer here/)

  await page.goto(`${app.url}/console/${partner.orgId}/test/candidates/${candidate_id}`)
  await page.getByRole('region', { name: 'Conversation' }).getByText('1. Yes').waitFor()
  await checkPage(page, 'conversation-sms')
})
