import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { shot } from '../../test/browser/screenshots.ts'
import { startApp } from '../../test/support/app.ts'
import { keepTime } from '../../test/support/clock.ts'
import { openSession, storeSteps } from '../../test/support/student.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }

test('a student on a small phone chooses skills, a way and a reviewer', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { sessionToken, id } = await openSession(app)
  const page = await newPage(t, PHONE)
  await page.goto(`${app.url}/session#token=${sessionToken}`)

  await page.getByRole('heading', { name: 'Which skills do you want verified?' }).waitFor()
  await assertAccessible(page)
  const search = page.getByRole('combobox', { name: 'Search for a skill' })
  await search.fill('bricklayin')
  await page.getByRole('option', { name: 'Bricklaying', exact: true }).waitFor()
  await shot(page, 'student-phone-search')
  await search.press('ArrowDown')
  await search.press('Enter')
  await page.getByRole('button', { name: 'Remove Bricklaying' }).waitFor()
  await search.fill('cement plast')
  await page.getByRole('option', { name: 'Cement plastering', exact: true }).click()
  await page.reload() // nothing chosen is lost
  await page.getByRole('button', { name: 'Remove Cement plastering' }).waitFor()
  await shot(page, 'student-phone-skills')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Continue' }).click()

  await page.getByRole('radio', { name: /Somebody confirms it/ }).click()
  await shot(page, 'student-phone-method')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Continue' }).click()

  await page.getByRole('checkbox', { name: /^Welder/ }).click()
  await shot(page, 'student-phone-items')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Continue' }).dblclick()

  await page.getByRole('heading', { name: 'Who can confirm it?' }).waitFor()
  await page.getByLabel('Their name').fill('Ravi Kumar')
  await page.getByLabel('Their mail address').fill('asha@example.com')
  await page.getByLabel('Their company or school').fill('Metro Fabricators')
  await page.getByRole('radio', { name: 'Client' }).click()
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.getByText('Please check the mail address. It cannot be your own.').waitFor()
  await shot(page, 'student-phone-reviewer')
  await assertAccessible(page)
  await page.getByLabel('Their mail address').fill('ravi@metro.example')
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.getByRole('heading', { name: 'We have asked' }).waitFor()
  await shot(page, 'student-phone-waiting')
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing sticks out')

  const answer = await app.fetch(`/api/v1/humanverification/verify-page/${id}`)
  assert.equal(answer.body.data.endorsementType, 'client')
  assert.equal(answer.body.data.endorserInfo.email, 'ravi@metro.example')
  await page.reload()
  await page.getByRole('heading', { name: 'We have asked' }).waitFor()
})

test('an assessment, one question at a time, with a reload in the middle, in Hindi', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const session = await openSession(app)
  await storeSteps(session, 'assessment')
  const page = await newPage(t, { ...PHONE, width: 360, locale: 'hi-IN' })
  await page.goto(`${app.url}/session#token=${session.sessionToken}`)

  await shot(page, 'student-phone-ready')
  await page.getByRole('button', { name: 'शुरू करें' }).click()
  const total = 6
  for (let number = 1; number <= total; number++) {
    await page.getByText(`सवाल ${number}/${total}`).waitFor()
    if (number === 2) {
      assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /[\u0900-\u097f]/) // in Hindi, as the browser asked
      await shot(page, 'student-phone-question')
      await assertAccessible(page)
    }
    await page.getByRole('radio').first().click()
    if (number === 3) {
      await page.reload()
      await page.getByText('सवाल 4/6').waitFor() // goes on where it was left
      continue
    }
    await page.getByRole('button', { name: number === total ? 'पूरा करें' : 'अगला' }).click()
  }
  await page.getByRole('button', { name: 'मेरे जवाब जमा करें' }).dblclick()
  await page.getByText('पास होने के लिए 70 % चाहिए').waitFor()
  await shot(page, 'student-phone-score')
  await assertAccessible(page)
})

test('a link that has ended says so', async (t) => {
  const app = await startApp(t)
  const page = await newPage(t, { width: 1280, height: 800 })
  await page.goto(`${app.url}/session#token=vst_nothing`)
  await page.getByRole('heading', { name: 'This page has ended' }).waitFor()
  await shot(page, 'student-desktop-ended')
  await assertAccessible(page)
})
