import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { MandateInput } from '../../server/mandates/schema.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { shot } from '../../test/browser/screenshots.ts'
import { startApp } from '../../test/support/app.ts'
import { invite } from '../../test/support/candidate.ts'
import { keepTime } from '../../test/support/clock.ts'
import { until } from '../../test/support/until.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }
const LARGER = { ...PHONE, width: 390, height: 844 }
const LANGUAGES = { languages: ['en', 'hi'] as ('en' | 'hi')[] }
/** Licence, notice, the questions about some skills, interest. */
const asking = (skills: number): Partial<MandateInput> => ({
  skills: ['sk_2001', 'sk_2005'].slice(0, skills).map((skill_id) => ({ skill_id, verify: true })),
})
const HINDI = { workflow: LANGUAGES, mandate: asking(1), candidate: { language: 'hi', name: 'आशा वर्मा' } }
/** Bytes of everything that a first visit transfers, compressed. */
const MOST_BYTES = 40 * 1024

/** The newest question, once it can be answered. */
async function question(page: Page): Promise<string> {
  await page.locator('.answers [aria-disabled="false"]').first().waitFor()
  return (await page.locator('.log .us').last().textContent())!
}

/** Answers the newest question by the label of a button; waits until there is another, or an end. */
async function press(page: Page, label: string) {
  const asked = await question(page)
  await page.locator('.answers').getByRole('button', { name: label, exact: true }).click()
  await page.locator('.log .us').last().getByText(asked, { exact: true }).waitFor({ state: 'hidden' })
}

/** Nothing waits to be sent any more. */
const sent = (page: Page) => until(async () => (await page.locator('.pending').count()) === 0)

const options = (page: Page) => page.locator('.answers .list button')

test("the candidate's page", async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)

  await t.test('a whole conversation in Hindi on a small phone, with the connection cut in the middle', async (t) => {
    const { link, candidacy } = await invite(app, { ...HINDI, mandate: asking(2) })
    const page = await newPage(t, PHONE)
    await page.goto(link)
    assert.match(await question(page), /नमस्ते आशा वर्मा/)
    assert.equal(await page.evaluate('document.documentElement.lang'), 'hi')
    await shot(page, 'candidate-320-consent', false)
    await press(page, 'हाँ')
    await press(page, 'हाँ')
    await question(page)
    await shot(page, 'candidate-320-words', false)
    await assertAccessible(page)

    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'भेजें', exact: true }).tap() // nothing to send yet
    assert.ok(await page.evaluate("document.activeElement.matches('textarea')"))
    await page.getByRole('textbox').fill('अगले सोमवार से')
    await page.getByRole('button', { name: 'भेजें', exact: true }).tap()
    const asked: string[] = []
    for (const number of [0, 1, 2, 3]) {
      asked.push(await question(page))
      await options(page).nth(number).tap()
    }
    await question(page)
    await page.getByText('इंटरनेट नहीं है।').waitFor()
    await shot(page, 'candidate-320-offline', false)
    await assertAccessible(page)
    assert.equal(new Set(asked).size, 4)
    assert.equal((await candidacy()).state.skills.length, 0)

    await page.context().setOffline(false)
    await sent(page)
    const { state } = await candidacy()
    assert.deepEqual(state.enrichment, ['yes', 'अगले सोमवार से'])
    assert.deepEqual(state.skills, [[0, 1, 2], [3]])

    for (let number = 4; number < 6; number++) {
      await question(page)
      if (number === 5) await shot(page, 'candidate-320-choices', false)
      await options(page).nth(0).tap()
    }
    assert.match(await question(page), /नौकरी करना चाहेंगे/)
    await press(page, 'हाँ')
    await page.getByText('धन्यवाद आशा वर्मा। सवाल पूरे हुए।').waitFor()
    await shot(page, 'candidate-320-thanks', false)
    await assertAccessible(page)
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing sticks out')
    const ended = await candidacy()
    assert.equal(ended.status, 'completed')
    const chosen = [
      [0, 1, 2],
      [3, 0, 0],
    ]
    assert.deepEqual(ended.state.skills, chosen)
  })

  await t.test(
    'gone on with on another device, in another language; the first answer to a question counts',
    async (t) => {
      const { link, candidacy } = await invite(app, { workflow: LANGUAGES, mandate: asking(1) })
      const phone = await newPage(t, LARGER)
      await phone.goto(link)
      await press(phone, 'Yes')
      assert.equal(await question(phone), 'Which language would you like to use?')
      await shot(phone, 'candidate-390-language', false)
      await press(phone, 'English')
      await press(phone, 'Yes')
      await press(phone, 'Back') // a correction
      assert.equal(await question(phone), 'Do you hold a wireman licence?')
      await press(phone, 'Yes')
      await press(phone, 'Skip')
      await question(phone)
      await shot(phone, 'candidate-390-choices', false)
      await options(phone).nth(2).click()
      const standing = await question(phone)

      const desk = await newPage(t, { width: 1280, height: 800, colorScheme: 'dark' })
      await desk.goto(link)
      assert.equal(await question(desk), standing)
      assert.equal(await desk.locator('.log .you').count(), 5)
      assert.equal(await desk.locator('.log .you').nth(2).textContent(), 'Your answer: Yes')
      await desk.getByRole('combobox', { name: 'Change language' }).selectOption({ label: 'हिन्दी' })
      await desk.getByRole('combobox', { name: 'भाषा बदलें' }).waitFor()
      assert.equal(await desk.evaluate('document.documentElement.lang'), 'hi')
      assert.notEqual(await question(desk), standing)
      await shot(desk, 'candidate-desktop-dark', false)
      await desk.emulateMedia({ colorScheme: 'light' })
      await shot(desk, 'candidate-desktop', false)
      await assertAccessible(desk)
      await options(desk).nth(1).focus()
      await desk.keyboard.press('Enter')
      await desk.getByText('6 में से 5').waitFor()
      const next = await question(desk)
      assert.ok(await desk.evaluate("document.activeElement.matches('.answers')"), 'the keyboard goes on there')

      await options(phone).nth(3).click() // answered on the other device already
      await phone.getByRole('combobox', { name: 'भाषा बदलें' }).waitFor()
      assert.equal(await question(phone), next)
      const { state } = await candidacy()
      assert.deepEqual([state.enrichment, state.skills, state.language], [['yes', null], [[2, 1]], 'hi'])
    },
  )

  await t.test(
    'an answer that arrived without our hearing of it counts once; a reload keeps what was not sent',
    async (t) => {
      const { link, token, candidacy } = await invite(app, { mandate: asking(1) })
      const page = await newPage(t, PHONE)
      await page.goto(link)
      await press(page, 'Yes')
      await press(page, 'Yes')
      await press(page, 'Skip')
      let lost = true
      await page.route('**/reply', async (route) => {
        if (!lost) return route.continue()
        const body = route.request().postData()!
        const headers = { 'content-type': 'application/json' }
        await app.fetch(`/api/v1/candidate/${token}/reply`, { method: 'POST', headers, body })
        await route.abort()
      })
      await question(page)
      await options(page).nth(1).dblclick() // the second tap falls on the next question, and is not meant for it
      await question(page)
      await options(page).nth(2).tap()
      await page.getByText('You are offline').waitFor()
      await page.getByRole('button', { name: 'Try again' }).tap()
      await page.reload()
      await question(page)
      assert.equal(await page.locator('.pending').count(), 1)
      await page.getByText('You are offline').waitFor()
      lost = false
      await page.evaluate("dispatchEvent(new Event('online'))")
      await sent(page)
      assert.deepEqual((await candidacy()).state.skills, [[1, 2]])
    },
  )

  await t.test('ends: a knockout, a refusal, STOP, a campaign that is over, a link that leads nowhere', async (t) => {
    const knocked = await invite(app, { mandate: asking(1) })
    const page = await newPage(t, LARGER)
    await page.goto(knocked.link)
    await press(page, 'Yes')
    await question(page)
    await page.getByRole('button', { name: 'No', exact: true }).dblclick()
    await page.getByText('This job needs something else').waitFor()
    await shot(page, 'candidate-390-knockout', false)
    assert.deepEqual(
      [(await knocked.candidacy()).status, (await knocked.candidacy()).state.ending],
      ['completed', 'knocked_out'],
    )

    const refusing = await invite(app, { mandate: asking(1) })
    await page.goto(refusing.link)
    await press(page, 'No')
    await page.getByText('All right, we will not ask you anything.').waitFor()
    assert.equal((await refusing.candidacy()).reason, 'refused')

    const stopping = await invite(app, { mandate: asking(1) })
    await page.goto(stopping.link)
    await press(page, 'Yes')
    await page.getByRole('button', { name: 'Stop and send me no more messages' }).click()
    await page.getByRole('group', { name: 'Do you really want to stop?' }).waitFor()
    await shot(page, 'candidate-390-stop', false)
    await assertAccessible(page)
    await page.locator('footer').getByRole('button', { name: 'No' }).click()
    await page.getByRole('button', { name: 'Stop and send me no more messages' }).click()
    await page.locator('footer').getByRole('button', { name: 'Yes' }).click()
    await page.getByText('You will get no more messages from us.').waitFor()
    await until(async () => (await page.evaluate('localStorage.length')) === 0)
    assert.equal((await stopping.candidacy()).reason, 'stopped')
    await page.reload()
    await page.getByText('You will get no more messages from us.').waitFor()
    assert.equal(await page.getByRole('button').count(), 0)

    const archived = await invite(app, { mandate: asking(1) })
    await archived.partner.remove(`/campaigns/${archived.campaign_id}`)
    await page.goto(archived.link)
    await page.getByText('This link is no longer valid.').waitFor()
    await shot(page, 'candidate-390-closed', false)

    const nowhere = await app.fetch('/c/nothing', { headers: { 'accept-language': 'xx, ta-IN;q=0.8' } })
    assert.equal(nowhere.status, 404)
    assert.match(nowhere.body, /<html lang="ta">/)
    assert.match(nowhere.headers.get('content-security-policy')!, /default-src 'none'/)
    await page.goto(`${app.url}/c/nothing`)
    await page.locator('#root').getByText('This link does not work.').waitFor()
    await shot(page, 'candidate-390-unknown', false)
    await assertAccessible(page)
  })

  await t.test(
    'small enough for a slow connection; the question comes with the page, and no answer to it',
    async (t) => {
      const evil = `</script><img src=x onerror="document.title='owned'">`
      const { link, token } = await invite(app, { ...HINDI, candidate: { language: 'hi', name: evil } })
      const bare = await app.fetch(new URL(link).pathname)
      assert.match(bare.body, /<p class="said us" dir="auto">नमस्ते/)
      assert.equal(bare.headers.get('cache-control'), 'no-store')
      assert.equal(bare.headers.get('referrer-policy'), 'no-referrer')

      const page = await newPage(t, PHONE)
      const sizes: Promise<number>[] = []
      const bodies: Promise<string>[] = []
      page.on('requestfinished', (request) => {
        sizes.push(
          request.sizes().then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize),
        )
        if (!request.url().includes('/assets/')) bodies.push(request.response().then((response) => response!.text()))
      })
      await page.goto(link)
      assert.ok((await question(page)).includes(evil.slice(0, 20)))
      assert.equal(await page.locator('img').count(), 0)
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
      t.diagnostic(`${sizes.length} requests, ${bytes} bytes`)
      assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
      assert.ok(sizes.length <= 7, `${sizes.length} requests`)

      await press(page, 'हाँ')
      await press(page, 'हाँ')
      await press(page, 'छोड़ें')
      await question(page)
      await options(page).nth(0).tap()
      await sent(page)
      bodies.push(app.fetch(`/api/v1/candidate/${token}`).then(({ body }) => JSON.stringify(body)))
      bodies.push(app.fetch(new URL(link).pathname).then(({ body }) => body))
      for (const body of await Promise.all(bodies))
        assert.doesNotMatch(body, /"(key|correct|verdict|verdicts|knockout|item_id|token)"/)
      assert.ok(!app.logged.some((line) => line.includes(token)))

      const flood = await Promise.all(Array.from({ length: 40 }, () => app.fetch(new URL(link).pathname)))
      const held = flood.find(({ status }) => status === 429)!
      assert.match(held.headers.get('content-type')!, /text\/html/)
      assert.match(held.body, /That did not work/)
    },
  )

  await t.test('an answer can be spoken where the browser listens, and typed where it does not', async (t) => {
    const { link, candidacy } = await invite(app, HINDI)
    const page = await newPage(t, PHONE)
    await page.addInitScript(`window.SpeechRecognition = class {
    start() { window.heard = this }
    stop() { this.onend() }
  }`)
    await page.goto(link)
    await press(page, 'हाँ')
    await press(page, 'हाँ')
    await page.getByRole('button', { name: 'बोलें', exact: true }).tap()
    assert.equal(await page.evaluate('heard.lang'), 'hi-IN')
    await page.evaluate("heard.onresult({ results: [[{ transcript: 'कल' }], [{ transcript: 'से' }]] })")
    await page.evaluate('heard.onend()')
    await page.getByRole('button', { name: 'बोलें', exact: true, pressed: false }).waitFor()
    assert.equal(await page.getByRole('textbox').inputValue(), 'कल से')
    await page.reload() // what was said or typed is not lost
    assert.equal(await page.getByRole('textbox').inputValue(), 'कल से')
    await page.getByRole('button', { name: 'भेजें', exact: true }).tap()
    await sent(page)
    await options(page).first().waitFor()
    assert.equal((await candidacy()).state.enrichment[1], 'कल से')

    const silent = await newPage(t, PHONE)
    await silent.addInitScript('delete window.webkitSpeechRecognition; delete window.SpeechRecognition')
    await silent.goto((await invite(app, HINDI)).link)
    await press(silent, 'हाँ')
    await press(silent, 'हाँ')
    await silent.getByRole('textbox').waitFor()
    assert.equal(await silent.getByRole('button', { name: 'बोलें', exact: true }).count(), 0)
  })
})
