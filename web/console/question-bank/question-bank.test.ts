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
import { signInMember } from '../../../test/support/console.ts'
import { itemsCsv, sampleItems } from '../../../test/support/item-files.ts'

const csvFile = (text: string) => ({ name: 'questions.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })

test('an owner checks, imports, deletes and exports questions', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const { email } = await signInMember(app, orgId, 'owner')
  const page = await openConsolePage(t, app, { email })
  await page.goto(`${app.url}/console/${orgId}/live`)
  await getNavLink(page, 'Questions').click()
  await waitForHeading(page, 'Questions')
  await page.getByRole('link', { name: 'Your own questions' }).click()
  await waitForHeading(page, 'Your own questions')
  assert.match(page.url(), /\/question-bank$/)
  assert.equal(await getNavLink(page, 'Questions').getAttribute('aria-current'), 'page')
  assert.equal(await getNavLink(page, 'Question bank').count(), 0)
  await page.getByText('No questions yet').waitFor()
  await checkPage(page, 'question-bank-empty')

  const fileInput = page.getByLabel('File: CSV, or QTI 3.0')
  const csv = itemsCsv(sampleItems(12))
  await fileInput.setInputFiles(csvFile(csv.replace('sk_1001,q3,,2', 'sk_1001,q3,,9').replace('q5,,2', 'q5,,')))
  await getButton(page, 'Check file').click()
  await page.getByText('Nothing was imported. The file has 2 errors. Correct the file').waitFor()
  await page.getByRole('cell', { name: 'questions.csv, line 4, column difficulty' }).waitFor()
  await checkPage(page, 'question-bank-errors')
  await fileInput.setInputFiles(csvFile(itemsCsv(sampleItems(130)).replaceAll(',2,What', ',9,What')))
  await getButton(page, 'Check file').click()
  await page.getByText('The file has 130 errors, of which the first 100 are listed. Correct').waitFor()

  await fileInput.setInputFiles(csvFile(csv))
  await getButton(page, 'Check file').click()
  await page.getByText('The file has no errors. An import would give: 12 added').waitFor()
  await page.getByText('No questions yet').waitFor()
  await getButton(page, 'Import').click()
  await page.getByText('Imported: 12 added').waitFor()
  await page.getByRole('cell', { name: 'use these questions' }).waitFor()
  const { name } = app.context.catalogue.current.skill(1001)!
  await page.getByRole('cell', { name }).getByRole('link').click()
  await page.getByRole('heading', { level: 2, name }).waitFor()
  await page.getByText('q12').waitFor()
  await checkPage(page, 'question-bank')
  assert.doesNotMatch(await page.content(), /mortar/, 'the page contains no texts')

  await page.getByRole('link', { name: 'q12' }).click()
  await page.getByText('No LIVE responses yet').waitFor()
  await page.goBack()
  const deleteLastButton = page.getByRole('button', { name: 'Delete q12', exact: true })
  await deleteLastButton.waitFor()
  await page.reload() // a click is lost if the list is being replaced at this moment
  await deleteLastButton.waitFor()

  for (const [name, fileName] of [
    ['Export CSV', 'items.csv'],
    ['Export QTI', 'items.zip'],
  ] as const) {
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name }).click()
    assert.equal((await download).suggestedFilename(), fileName)
  }

  await page.getByRole('button', { name: 'Delete q1', exact: true }).click()
  await getDialog(page).getByRole('button', { name: 'Delete question' }).click()
  await page.getByText('1 more active needed').waitFor()

  const phonePage = await openConsolePage(t, app, { email, width: 360, height: 740 })
  await phonePage.goto(`${app.url}/console/${orgId}/live/question-bank?skill_id=sk_1001`)
  await phonePage.getByText('q12').waitFor()
  await checkPage(phonePage, 'question-bank-phone')
  const darkPage = await openConsolePage(t, app, { email, colorScheme: 'dark' })
  await darkPage.goto(`${app.url}/console/${orgId}/live/question-bank?skill_id=sk_1001`)
  await darkPage.getByText('q12').waitFor()
  await checkPage(darkPage, 'question-bank-dark')
})

test('a viewer sees the numbers of questions, but cannot import, export or delete', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.fixtures.createOrg()
  await app.as(key).post('/items/import', { content: itemsCsv(sampleItems(2)) })
  const { email } = await signInMember(app, orgId, 'viewer')
  const page = await openConsolePage(t, app, { email })
  await page.goto(`${app.url}/console/${orgId}/test/question-bank?skill_id=sk_1001`)
  await page.getByText('q2').waitFor()
  assert.equal(await page.getByRole('link', { name: /Export/ }).count(), 0)
  assert.equal(await page.getByRole('button', { name: /Import|Delete/ }).count(), 0)
})

test('a LIVE mandate that uses only built-in questions shows a notice', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId, key } = await app.fixtures.createOrg()
  await app.fixtures.createWorkflow({ orgId, mode: 'live' }, {}, 'playground')
  const { email } = await signInMember(app, orgId, 'recruiter')
  const page = await openConsolePage(t, app, { email })
  const notice = page.getByText('verified with built-in questions')
  const { name } = app.context.catalogue.current.skill(1001)!
  const addSkill = async () => {
    await page.getByRole('combobox', { name: 'Add skill' }).fill(name)
    await page.getByRole('listbox').getByRole('option').first().click()
    await page.getByRole('button', { name: `Remove ${name}` }).waitFor()
  }
  await page.goto(`${app.url}/console/${orgId}/live/mandates/new`)
  await addSkill()
  await notice.waitFor()
  await page.getByText(`${name}: this skill is verified with built-in questions.`).waitFor()
  await checkPage(page, 'mandate-new-public-bank')
  await app.as(key).post('/items/import', { content: itemsCsv(sampleItems(12)) })
  await page.reload()
  await addSkill()
  await page.getByText('1 of at most 3 skills').waitFor()
  assert.equal(await notice.count(), 0)
})
