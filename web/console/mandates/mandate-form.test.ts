import assert from 'node:assert/strict'
import { test } from 'node:test'
import { button, consolePage, heading, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf, signIn } from '../../../test/support/console.ts'

test('a job abroad, with a skill that the catalogue lacks, by keyboard', async (t) => {
  const app = await startApp(t, { worker: true })
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  await app.given.workflow({ orgId, mode: 'test' }, {}, 'playground')
  const recruiter = await memberOf(app, orgId, 'recruiter')
  const page = await consolePage(t, app, { email: recruiter.email })
  await page.goto(`${app.url}/console/${orgId}/test/mandates/new`)
  await page.getByLabel('Job title').fill('Falcon keeper')
  await page.getByLabel('Company', { exact: true }).fill('Gulf Staff')

  await page.getByLabel('Abroad').check()
  const country = page.getByRole('combobox', { name: 'Add a country' })
  for (const name of ['emirates', 'qatar', 'norway']) {
    await country.fill(name)
    await page.getByRole('listbox', { name: 'Found: Add a country' }).getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
  }
  await page.getByRole('button', { name: /^Norway/ }).click()
  await page.getByRole('button', { name: /^Norway/ }).waitFor({ state: 'detached' })
  await country.fill('atlantis')
  await page.getByText('Nothing found.').waitFor()
  await country.fill('')

  const skill = page.getByRole('combobox', { name: 'Add a skill' })
  await skill.fill('falcon trimming')
  await page.getByText('None of these is “falcon trimming”?').waitFor() // something like it is always found
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Ask for it to be added')
  await look(page, 'mandate-missing-skill')
  await page.keyboard.press('Enter')
  await page.getByText('asked for', { exact: true }).waitFor()
  assert.equal(await skill.inputValue(), '')
  await skill.fill('house wirin')
  await page.getByRole('option', { name: /^House wiring/ }).click()
  await page.getByText('Accepted as it is, with a word of advice').waitFor()
  await look(page, 'mandate-abroad')
  await button(page, 'Make the mandate').click()

  await heading(page, /^Falcon keeper ready/)
  await page.getByText('United Arab Emirates, Qatar').waitFor()
  await page.getByText('falcon trimming (asked for)').waitFor()
  await look(page, 'mandate-abroad-made')
  const operator = await signIn(app)
  const { items } = (await operator.get('/operator/skill-requests')).body.data
  assert.deepEqual(
    items.map(({ name, org_id }: any) => [name, org_id]),
    [['falcon trimming', orgId]],
  )
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByRole('button', { name: /^Qatar/ }).waitFor() // comes back as it was
  await page.getByText('asked for', { exact: true }).waitFor()
})

test('a click on the way to ask for a skill may be slow', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  await app.given.workflow({ orgId, mode: 'test' }, {}, 'playground')
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/mandates/new`)
  await page.getByRole('combobox', { name: 'Add a skill' }).fill('falcon trimming')
  await button(page, 'Ask for it to be added').click({ delay: 400 })
  await page.getByText('asked for', { exact: true }).waitFor()
  // The list closes when somebody goes elsewhere, and is there again when they come back.
  await page.getByRole('combobox', { name: 'Add a skill' }).fill('house wirin')
  const option = page.getByRole('option', { name: /^House wiring/ })
  await option.waitFor()
  await page.getByLabel('Job title').focus()
  await option.waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Add a skill' }).focus()
  await option.waitFor()
})
