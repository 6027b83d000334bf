import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, getButton, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'

test('a mandate abroad with a skill that is not in the catalogue can be created by keyboard', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  await app.fixtures.createWorkflow({ orgId, mode: 'test' }, {}, 'playground')
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const page = await openConsolePage(t, app, { email: recruiter.email })
  await page.goto(`${app.url}/console/${orgId}/test/mandates/new`)
  await page.getByLabel('Job title').fill('Falcon keeper')
  await page.getByLabel('Company', { exact: true }).fill('Gulf Staff')

  await page.getByLabel('Abroad').check()
  const country = page.getByRole('combobox', { name: 'Add country' })
  for (const name of ['emirates', 'qatar', 'norway']) {
    await country.fill(name)
    await page.getByRole('listbox', { name: 'Results: Add country' }).getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
  }
  await page.getByRole('button', { name: /^Norway/ }).click()
  await page.getByRole('button', { name: /^Norway/ }).waitFor({ state: 'detached' })
  await country.fill('atlantis')
  await page.getByText('No results.').waitFor()
  await country.fill('')

  const skill = page.getByRole('combobox', { name: 'Add skill' })
  await skill.fill('falcon trimming')
  await page.getByText('“falcon trimming” not listed?').waitFor() // similar skills are always found
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Request this skill')
  await checkPage(page, 'mandate-missing-skill')
  await page.keyboard.press('Enter')
  await page.getByText('requested', { exact: true }).waitFor()
  assert.equal(await skill.inputValue(), '')
  await skill.fill('house wirin')
  await page.getByRole('option', { name: /^House wiring/ }).click()
  await page.getByText('You can save this job. Suggestions:').waitFor()
  await checkPage(page, 'mandate-abroad')
  await getButton(page, 'Create job').click()

  await waitForHeading(page, /^Falcon keeper ready/)
  await page.getByText('United Arab Emirates, Qatar').waitFor()
  await page.getByText('falcon trimming (requested)').waitFor()
  await checkPage(page, 'mandate-abroad-created')
  const operator = await signIn(app)
  const { items } = (await operator.get('/operator/skill-requests')).body.data
  assert.deepEqual(
    items.map(({ name, org_id }: any) => [name, org_id]),
    [['falcon trimming', orgId]],
  )
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByRole('button', { name: /^Qatar/ }).waitFor() // the form shows the stored values
  await page.getByText('requested', { exact: true }).waitFor()
})

test('a slow click on the button that requests a skill works', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  await app.fixtures.createWorkflow({ orgId, mode: 'test' }, {}, 'playground')
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/mandates/new`)
  await page.getByRole('combobox', { name: 'Add skill' }).fill('falcon trimming')
  await getButton(page, 'Request this skill').click({ delay: 400 })
  await page.getByText('requested', { exact: true }).waitFor()
  // The list closes when the focus leaves the field, and opens again when it returns.
  await page.getByRole('combobox', { name: 'Add skill' }).fill('house wirin')
  const option = page.getByRole('option', { name: /^House wiring/ })
  await option.waitFor()
  await page.getByLabel('Job title').focus()
  await option.waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Add skill' }).focus()
  await option.waitFor()
})

test('the edit page of a mandate created through the API explains why it is read-only, and links back', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const { mandate_id } = await app.fixtures.createMandate({ orgId, mode: 'test' })
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/mandates/${mandate_id}/edit`)
  await waitForHeading(page, 'Edit job')
  await page.getByText('was created through the API').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Electrician' }).click()
  await waitForHeading(page, /Electrician/)
})
