/**
 * The pages that people open on their phones: what a first visit costs in bytes and requests, and how long it takes until they
 * can read and answer, at 150 ms a round trip and 1.6 Mbit/s, and on 2G. The browser delays each request; opening the connection
 * itself comes on top, as does a slower phone.
 */
import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { buildPages } from '../server/web-assets/build.ts'
import { launchChromium } from '../test/browser/browser.ts'
import { prepareTemplate, startCluster } from '../test/runner/cluster.ts'
import { startApp } from '../test/support/app.ts'
import { invite } from '../test/support/candidate.ts'
import { requestReview } from '../test/support/student.ts'
import { until } from '../test/support/until.ts'
import { printRows, type Row } from './support/rows.ts'

const ROUNDS = 5
const SLOW = { latency: 150, kilobits: 1600 }
const SECOND_GENERATION = { latency: 600, kilobits: 100 }

type Network = typeof SLOW

interface Visit {
  bytes: number
  requests: number
  /** Milliseconds from the tap on the link. */
  readable: number
  interactive: number
}

export async function run(): Promise<Row[]> {
  await buildPages()
  const cluster = await startCluster()
  await prepareTemplate(cluster.url)
  process.env.TEST_POSTGRES_URL = cluster.url
  const endings: (() => unknown)[] = [() => cluster.stop()]
  const t = { after: (ending: () => unknown) => void endings.push(ending) } as unknown as TestContext
  try {
    const app = await startApp(t)
    const browser = await launchChromium()
    endings.push(() => browser.close())
    const { link: review } = await requestReview(app)
    const { link: talk } = await invite(app, {
      workflow: { languages: ['en', 'hi'] },
      candidate: { language: 'hi', name: 'आशा वर्मा' },
    })
    const candidate = "candidate's page, in Hindi"
    return [
      ...rowsOf("reviewer's page", await visits(browser, review, 'form .choice', SLOW)),
      ...rowsOf(candidate, await visits(browser, talk, '.answers button', SLOW)),
      ...timesOf(
        `${candidate}, on 2G`,
        await visits(browser, talk, '.answers button', SECOND_GENERATION),
        SECOND_GENERATION,
        5,
      ),
    ]
  } finally {
    for (const ending of endings.reverse()) await ending()
  }
}

/** Each with an empty cache. */
async function visits(browser: Browser, link: string, answerable: string, network: Network): Promise<Visit[]> {
  const found: Visit[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    const throughput = (network.kilobits * 1000) / 8
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: network.latency,
      downloadThroughput: throughput,
      uploadThroughput: throughput / 2,
    })
    let bytes = 0
    let requests = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
      requests += 1
    })
    // The page makes its buttons once its script runs: the frame after that they can be pressed.
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (!document.querySelector('#root ${answerable}')) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => { window.interactiveAt = performance.now() }))
    }).observe(document, { childList: true, subtree: true })`)
    await page.goto(link)
    const painted = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    await until(() => page.evaluate(`window.interactiveAt !== undefined && ${painted} !== undefined`))
    const readable: number = await page.evaluate(painted)
    const interactive: number = await page.evaluate('window.interactiveAt')
    found.push({ bytes, requests, readable, interactive })
    await context.close()
  }
  return found
}

function rowsOf(name: string, found: Visit[]): Row[] {
  return [
    {
      name: `${name}: transferred`,
      value: median(found, ({ bytes }) => bytes) / 1024,
      unit: 'KB',
      note: 'compressed, with headers; aim: under 40',
    },
    { name: `${name}: requests`, value: median(found, ({ requests }) => requests), unit: '' },
    ...timesOf(name, found, SLOW, 1.5),
  ]
}

function timesOf(name: string, found: Visit[], { latency, kilobits }: Network, aim: number): Row[] {
  const note = `${latency} ms, ${kilobits} kbit/s, empty cache, median of ${ROUNDS}`
  return [
    { name: `${name}: readable after`, value: median(found, ({ readable }) => readable) / 1000, unit: 's', note },
    {
      name: `${name}: interactive after`,
      value: median(found, ({ interactive }) => interactive) / 1000,
      unit: 's',
      note: `${note}; aim: under ${aim}`,
    },
  ]
}

function median(found: Visit[], read: (visit: Visit) => number): number {
  return found.map(read).sort((a, b) => a - b)[found.length >> 1]!
}

if (import.meta.main) {
  printRows('pages', await run())
  process.exit(0)
}
