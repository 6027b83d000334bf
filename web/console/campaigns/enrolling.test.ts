import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { button, consolePage, heading, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { campaigner, pass, player } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** Drops a file onto what the selector finds, as a person does with the mouse. */
function drop(page: Page, selector: string, name: string, bytes: Uint8Array) {
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

test('a dropped file enrols more candidates into a campaign that runs', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId, scope } = await campaigner(app)
  const recruiter = await memberOf(app, orgId, 'recruiter')
  const { mandate_id } = await app.given.mandate(scope, {}, 'playground')
  const made = await recruiter.post(
    `/orgs/${orgId}/test/campaigns`,
    {
      mandate_id,
      name: 'March intake',
      candidates: [{ external_candidate_id: 'c-1', name: 'Asha Rao', phone: '+919990000001' }],
    },
    { 'idempotency-key': 'first-one' },
  )
  assert.equal(made.status, 202, JSON.stringify(made.body))
  const page = await consolePage(t, app, { email: recruiter.email })
  await page.goto(`${app.url}/console/${orgId}/test/campaigns/${made.body.data.campaign.campaign_id}`)
  await page.getByRole('link', { name: 'More candidates' }).click()
  await heading(page, 'More candidates')
  const field = '[aria-label="Candidates"]'

  await drop(page, field, 'people.xlsx', Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0, 0))
  await page.getByText('people.xlsx is no text').waitFor()
  await drop(page, field, 'empty.csv', Buffer.from('name,phone\n'))
  await page.getByText('There is nobody in it').waitFor()
  await drop(page, 'h1', 'beside.csv', Buffer.from('name,phone\nNobody,+919812345670\n'))
  assert.match(page.url(), /campaign_id=/, 'a file beside the field does not replace the page')
  // As a spreadsheet saves "Unicode text".
  const rows =
    'Name\tMobile\tRef\nAsha Rao\t+919990000001\tc-1\nRenée Dsouza\t98123 45678\tc-2\nRavi\t98123 45679\tc-3\n'
  await drop(page, field, 'people.txt', Buffer.from(`\ufeff${rows}`, 'utf16le'))
  await page.getByText('Every row is right').waitFor()
  await page.getByRole('cell', { name: 'Renée Dsouza' }).waitFor()
  await look(page, 'enrol-more')
  await button(page, 'Enrol them').click()

  await heading(page, /^March intake/)
  await page.getByText('2 candidates enrolled. 1 was in it already').waitFor()
  await page.getByRole('img', { name: /3 pending/ }).waitFor()
  await page.getByRole('link', { name: 'Renée Dsouza' }).waitFor()
  await look(page, 'enrol-more-done')
  await page.reload()
  await heading(page, /^March intake/)
  assert.equal(await page.getByText('candidates enrolled').count(), 0, 'said once')
})

test('rows that changed after a half-way failure leave nobody out', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId, scope, get } = await campaigner(app)
  const { mandate_id } = await app.given.mandate(scope, {}, 'playground')
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/campaigns/new?mandate_id=${mandate_id}`)
  const lines = Array.from({ length: 150 }, (_, n) => `Person ${n},+9198100${String(10_000 + n)}`)
  await page.locator('input[type=file]').setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['name,phone', ...lines].join('\n')),
  })
  await page.getByText('Every row is right').waitFor()
  let failing = true
  await page.route(/\/campaigns\/CP_\w+\/candidates/, (route) =>
    failing && route.request().method() === 'POST' && !route.request().headers()['x-dry-run']
      ? route.fulfill({
          status: 503,
          json: { success: false, error: { code: 'SERVICE_DISABLED', message: 'Switched off.', details: [] } },
        })
      : route.continue(),
  )
  await button(page, 'Start the campaign').click()
  await page.getByText('100 were enrolled before; nobody twice.').waitFor()
  failing = false
  await button(page, 'Remove row 2').click() // one of those who were enrolled
  await page.getByText('Every row is right').waitFor()
  assert.ok(await page.getByLabel('For which job').isDisabled(), 'the campaign is made for this job')
  await button(page, 'Start the campaign').click()
  await page.getByText('50 candidates enrolled. 99 were in it already').waitFor()
  const { items } = (await get('/campaigns')).body.data
  assert.deepEqual(
    items.map(({ counts }: any) => counts.candidates),
    [150],
  )
})

test('who was never asked has no verdict, and who said STOP earlier is told as such', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const demo = await app.given.org('Demo organisation')
  const { orgId, mandate, campaign, get } = await campaigner(app)
  const { mandate_id } = await mandate()
  const people = [player(8), player(10)]
  await campaign(mandate_id, people)
  await pass(app, 8000)
  const again = await campaign(mandate_id, people)
  await pass(app, 8000)
  const { items } = (await get(`/campaigns/${again.campaign.campaign_id}/candidates`)).body.data
  const [unreachable, stopped] = ['Person 8', 'Person 10'].map((name) => items.find((each: any) => each.name === name))
  const page = await consolePage(t, app)
  await page.waitForURL(`**/${demo.orgId}/test`) // the one to try things out, though another is newer
  await page.goto(`${app.url}/console/${orgId}/test/candidates/${stopped.candidate_id}`)
  await page.getByText('Nothing was sent: this number said STOP earlier. The credit came back.').waitFor()
  await page.getByText('Says STOP: said STOP earlier').waitFor()
  await page.getByText('None: stopped').waitFor()
  await look(page, 'candidate-stopped-earlier')
  await page.goto(`${app.url}/console/${orgId}/test/results/${unreachable.result_id}`)
  await page.getByText('None: could not be reached').waitFor()
  assert.equal(await page.getByText('Not qualified').count(), 0)
  await page.goto(`${app.url}/console`) // where the reader was last
  await page.waitForURL(`**/${orgId}/test`)
})
