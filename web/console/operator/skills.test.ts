import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkPage,
  getButton,
  getDialog,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

const KITE_TAXONOMY_CSV = `id,name,description,aliases,sub_skill,master_skill,verifiable
k1,Kite making,Makes kites of paper and split bamboo.,patang,Paper craft,Crafts,true
`

test('an operator decides skill requests and imports a taxonomy file', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { get, post } = await createPartner(app)
  await post('/skill-requests', { name: 'Bamboo scaffolding tying', context: 'High-rise work' })
  await post('/skill-requests', { name: 'Snake catching' })
  const page = await openConsolePage(t, app)
  await getNavLink(page, 'Skills').click()
  await waitForHeading(page, 'Skills')
  await page.getByRole('row', { name: /Bamboo scaffolding tying High-rise work pending Acme Staffing/ }).waitFor()
  await getButton(page, 'Approve Bamboo scaffolding tying').click()
  await getDialog(page).getByText('Requested for: High-rise work').waitFor()
  assert.ok(await getButton(page, 'Approve').isDisabled())
  await page.getByRole('combobox', { name: 'Sub-skill' }).fill('scaffold')
  await page.getByRole('listbox').getByRole('option').first().waitFor()
  await checkPage(page, 'operator-skill-approve')
  await page.keyboard.press('Enter')
  await page.getByLabel('Often required: rank it higher in searches').check()
  await getButton(page, 'Approve').click()
  await page.getByText(/Approved: added “Bamboo scaffolding tying” as sk_\d+/).waitFor()
  await getButton(page, 'Reject Snake catching').click()
  await getDialog(page).getByRole('button', { name: 'Reject' }).click()
  await page.getByText('No skill requests.').waitFor()
  const names = Array.from({ length: 26 }, (_, index) => `Made-up craft ${String(index).padStart(2, '0')}`)
  for (const name of names) await post('/skill-requests', { name })
  await page.reload()
  await page.getByText(names[24]!).waitFor()
  assert.equal(await page.getByText(names[25]!).count(), 0)
  await getButton(page, 'Show more').click()
  await page.getByText(names[25]!).waitFor()
  assert.equal(await page.getByText(names[0]!).count(), 1)
  assert.equal(await getButton(page, 'Show more').count(), 0)

  await page
    .getByLabel('File (up to 64 MB)')
    .setInputFiles({ name: 'kites.csv', mimeType: 'text/csv', buffer: Buffer.from(KITE_TAXONOMY_CSV) })
  await getButton(page, 'Check file').click()
  await page
    .getByRole('row', { name: /kites\.csv.*dry run/ })
    .getByText('added: 1')
    .waitFor()
  await getButton(page, 'Import').click()
  await page.getByRole('row', { name: /kites\.csv.*completed/ }).waitFor()
  await checkPage(page, 'operator-skills')
  // The server loads the imported skills in the background.
  await until(async () => (await get('/skills/search?q=kite%20making')).body.data.items[0]?.name === 'Kite making')
})
