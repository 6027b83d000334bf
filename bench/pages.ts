/**
 * Measures a first visit to the pages that people open on their phones: bytes, requests, and the time until the page can be read
 * and used, with 150 ms per round trip and 1.6 Mbit/s, and on 2G. The browser delays each request. The time to open the
 * connection and the slower CPU of a phone are not included.
 */
import type { Browser } from 'playwright-core'
import { buildPages } from '../server/web-assets/build.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { CHROMIUM_ADVICE, isChromiumAvailable } from '../test/browser/find-chromium.ts'
import { inviteCandidate } from '../test/support/candidate.ts'
import { until } from '../test/support/until.ts'
import { requestReview } from '../test/support/verification.ts'
import { withTestApp } from './support/app.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  BenchmarkSkipped,
  median,
  runFromCommandLine,
} from './support/benchmark.ts'

const FAST_3G = { latencyMs: 150, kilobitsPerSecond: 1600 }
const SLOW_2G = { latencyMs: 600, kilobitsPerSecond: 100 }

type Network = typeof FAST_3G

interface Visit {
  bytes: number
  requests: number
  /** Time from opening the link until the page can be read. */
  readableMs: number
  /** Time from opening the link until the page can be used. */
  interactiveMs: number
}

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  if (!isChromiumAvailable()) throw new BenchmarkSkipped(`no Chromium found. ${CHROMIUM_ADVICE}`)
  const rounds = short ? 1 : 5
  await buildPages()
  return withTestApp(async (app) => {
    const browser = await launchChromium()
    try {
      const { link: reviewLink } = await requestReview(app)
      const { link: candidateLink } = await inviteCandidate(app, {
        workflow: { languages: ['en', 'hi'] },
        candidate: { language: 'hi', name: 'आशा वर्मा' },
      })
      const candidatePage = "candidate's page, in Hindi"
      const reviewVisits = await visitRepeatedly(browser, reviewLink, 'form .choice', FAST_3G, rounds)
      const candidateVisits = await visitRepeatedly(browser, candidateLink, '.answers button', FAST_3G, rounds)
      const visitsOn2G = await visitRepeatedly(browser, candidateLink, '.answers button', SLOW_2G, rounds)
      return [
        ...pageRows("reviewer's page", reviewVisits),
        ...pageRows(candidatePage, candidateVisits),
        ...timeRows(`${candidatePage}, on 2G`, visitsOn2G, SLOW_2G, 5),
      ]
    } finally {
      await browser.close()
    }
  })
}

/** Opens the page once per round with an empty cache, and waits for an element that can be used. */
async function visitRepeatedly(
  browser: Browser,
  link: string,
  usableSelector: string,
  network: Network,
  rounds: number,
): Promise<Visit[]> {
  const visits: Visit[] = []
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    const throughput = (network.kilobitsPerSecond * 1000) / 8
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: network.latencyMs,
      downloadThroughput: throughput,
      uploadThroughput: throughput / 2,
    })
    let bytes = 0
    let requests = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
      requests += 1
    })
    // The script of the page renders its buttons; they can be pressed one frame later.
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (!document.querySelector('#root ${usableSelector}')) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => { window.interactiveAt = performance.now() }))
    }).observe(document, { childList: true, subtree: true })`)
    await page.goto(link)
    const firstPaintExpression = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    await until(() => page.evaluate(`window.interactiveAt !== undefined && ${firstPaintExpression} !== undefined`))
    const readableMs: number = await page.evaluate(firstPaintExpression)
    const interactiveMs: number = await page.evaluate('window.interactiveAt')
    visits.push({ bytes, requests, readableMs, interactiveMs })
    await context.close()
  }
  return visits
}

function pageRows(name: string, visits: Visit[]): BenchmarkRow[] {
  return [
    {
      name: `${name}: transferred`,
      value: median(visits.map(({ bytes }) => bytes)) / 1024,
      unit: 'KB',
      note: 'compressed, with headers; target: under 40',
    },
    { name: `${name}: requests`, value: median(visits.map(({ requests }) => requests)), unit: '' },
    ...timeRows(name, visits, FAST_3G, 1.5),
  ]
}

function timeRows(
  name: string,
  visits: Visit[],
  { latencyMs, kilobitsPerSecond }: Network,
  targetSeconds: number,
): BenchmarkRow[] {
  const note = `${latencyMs} ms, ${kilobitsPerSecond} kbit/s, empty cache, median of ${visits.length}`
  return [
    {
      name: `${name}: readable after`,
      value: median(visits.map(({ readableMs }) => readableMs)) / 1000,
      unit: 's',
      note,
    },
    {
      name: `${name}: interactive after`,
      value: median(visits.map(({ interactiveMs }) => interactiveMs)) / 1000,
      unit: 's',
      note: `${note}; target: under ${targetSeconds}`,
    },
  ]
}

if (import.meta.main) await runFromCommandLine('pages', runBenchmark)
