import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkPage, getButton, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** Drops a file onto the element that matches the selector. */
function dropFile(page: Page, selector: string, name: string, bytes: Uint8Array) {
  return page.locator(selector).evaluate(
    (element: any, [fileName, content]: string[]) => {
      const { DataTransfer, DragEvent, File, atob } = globalThis as any
      const transfer = new DataTransfer()
      const data = Uint8Array.from(atob(content), (letter: string) => letter.charCodeAt(0))
      transfer.items.add(new File([data], fileName, { type: 'text/csv' }))
      for (const type of ['dragenter', 'dragover', 'drop']) {
        element.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }))
      }
    },
    [name, base64(bytes)],
  )
}

test('a dropped file adds candidates to a running campaign', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId, scope } = await createCampaignPartner(app)
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const { mandate_id } = await app.fixtures.createMandate(scope, {}, 'playground')
  const created = await recruiter.post(
    `/orgs/${orgId}/test/campaigns`,
    {
      mandate_id,
      name: 'March intake',
      candidates: [{ external_candidate_id: 'c-1', name: 'Asha Rao', phone: '+919990000001' }],
    },
    { 'idempotency-key': 'first-one' },
  )
  assert.equal(created.status, 202, JSON.stringify(created.body))
  const page = await openConsolePage(t, app, { email: recruiter.email })
  await page.goto(`${app.url}/console/${orgId}/test/campaigns/${created.body.data.campaign.campaign_id}`)
  await page.getByRole('link', { name: 'Add candidates' }).click()
  await waitForHeading(page, 'Add candidates')
  const candidatesField = '[aria-label="Candidates"]'

  await dropFile(page, candidatesField, 'people.xlsx', Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0))
  await page.getByText('people.xlsx is not a text file').waitFor()
  await dropFile(page, candidatesField, 'empty.csv', Buffer.from('name,phone\n'))
  await page.getByText('No candidates found.').waitFor()
  await dropFile(page, 'h1', 'outside.csv', Buffer.from('name,phone\nOutside,+919812345670\n'))
  assert.match(page.url(), /campaign_id=/, 'a file dropped outside of the field does not replace the page')
  // The "Unicode text" format of spreadsheets.
  const rows =
    'Name\tMobile\tRef\nAsha Rao\t+919990000001\tc-1\nRenée Dsouza\t98123 45678\tc-2\nRavi\t98123 45679\tc-3\n'
  await dropFile(page, candidatesField, 'people.txt', Buffer.from(`\ufeff${rows}`, 'utf16le'))
  await page.getByText('All rows are valid').waitFor()
  await page.getByRole('cell', { name: 'Renée Dsouza' }).waitFor()
  await checkPage(page, 'enrol-more')
  await getButton(page, 'Enrol candidates').click()

  await waitForHeading(page, /^March intake/)
  await page.getByText('2 candidates enrolled. 1 candidate was already in the campaign.').waitFor()
  await page.getByRole('img', { name: /3 pending/ }).waitFor()
  await page.getByRole('link', { name: 'Renée Dsouza' }).waitFor()
  await checkPage(page, 'enrol-more-done')
  await page.reload()
  await waitForHeading(page, /^March intake/)
  assert.equal(await page.getByText('candidates enrolled').count(), 0, 'the message is shown once')
})

test('rows that were changed after a partial failure enrol every candidate exactly once', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId, scope, get } = await createCampaignPartner(app)
  const { mandate_id } = await app.fixtures.createMandate(scope, {}, 'playground')
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/campaigns/new?mandate_id=${mandate_id}`)
  const candidateLines = Array.from({ length: 150 }, (_, n) => `Person ${n},+9198100${String(10_000 + n)}`)
  await page.locator('input[type=file]').setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['name,phone', ...candidateLines].join('\n')),
  })
  await page.getByText('All rows are valid').waitFor()
  let failing = true
  await page.route(/\/campaigns\/CP_\w+\/candidates/, (route) =>
    failing && route.request().method() === 'POST' && !route.request().headers()['x-dry-run']
      ? route.fulfill({
          status: 503,
          json: { success: false, error: { code: 'SERVICE_DISABLED', message: 'Switched off.', details: [] } },
        })
      : route.continue(),
  )
  await getButton(page, 'Start campaign').click()
  await page.getByText('100 candidates were already enrolled and will not be enrolled again.').waitFor()
  failing = false
  await getButton(page, 'Remove row 2').click() // a candidate who is already enrolled
  await page.getByText('All rows are valid').waitFor()
  assert.ok(await page.getByLabel('Job', { exact: true }).isDisabled(), 'the campaign was created for this job')
  await getButton(page, 'Start campaign').click()
  await page.getByText('50 candidates enrolled. 99 candidates were already in the campaign.').waitFor()
  const { items } = (await get('/campaigns')).body.data
  assert.deepEqual(
    items.map(({ counts }: any) => counts.candidates),
    [150],
  )
})

test('candidates who were not asked have no verdict, and an earlier opt-out is shown', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const demo = await app.fixtures.createOrg('Demo organisation')
  const { orgId, createMandate, createCampaign, get } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const people = [aTestNumberCandidate(8), aTestNumberCandidate(10)]
  await createCampaign(mandate_id, people)
  await passTime(app, 8000)
  const secondCampaign = await createCampaign(mandate_id, people)
  await passTime(app, 8000)
  const { items } = (await get(`/campaigns/${secondCampaign.campaign.campaign_id}/candidates`)).body.data
  const [unreachable, stopped] = ['Person 8', 'Person 10'].map((name) => items.find((each: any) => each.name === name))
  const page = await openConsolePage(t, app)
  await page.waitForURL(`**/${demo.orgId}/test`) // the demo organisation, although another is newer
  await page.goto(`${app.url}/console/${orgId}/test/candidates/${stopped.candidate_id}`)
  await page.getByText('No message was sent: this number has opted out (STOP). The credit was refunded.').waitFor()
  await page.getByText('Opts out: opted out in an earlier campaign').waitFor()
  await page.getByText('None: opted out').waitFor()
  await checkPage(page, 'candidate-stopped-earlier')
  await page.goto(`${app.url}/console/${orgId}/test/results/${unreachable.result_id}`)
  await page.getByText('None: could not be reached').waitFor()
  assert.equal(await page.getByText('Not qualified').count(), 0)
  await page.goto(`${app.url}/console`) // the last organisation used
  await page.waitForURL(`**/${orgId}/test`)
})
