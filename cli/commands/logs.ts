import { setTimeout } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Command, InvalidArgumentError } from 'commander'
import type { LoggedRequest } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { wholeNumberParser } from '../options.ts'
import { openPartnerApi, type PartnerCall, type PartnerOptions, ServerUnavailableError } from '../partner-call.ts'
import { escapeControls, printStyled, removeControls } from '../print.ts'
import { NO_WAIT_OPTION } from '../rate-limit-retry.ts'

interface Options {
  failed?: boolean
  status?: string
  requestId?: string
  limit: number
}

const POLL_INTERVAL_MS = 2000
const PAGE_SIZE = 100

export function logsCommand(): Command {
  const logs = new Command('logs')
    .description('Show the log of your organisation\'s API requests (uses the same credentials as "attestry request")')
    .addHelpText(...examples('logs list --failed', 'logs tail'))

  logs
    .command('list')
    .description('List requests of the last three days, newest first')
    .option('--failed', 'only requests that failed')
    .option('--status <status>', 'only requests with this status, such as 404 or 4xx', parseStatus)
    .option('--request-id <id>', 'only the request with this x-request-id')
    .option('--limit <n>', 'maximum number of requests', wholeNumberParser(1, PAGE_SIZE), 25)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('logs list --failed --limit 50', 'logs list --status 404', 'logs list --request-id req-1'))
    .action(async (options: Options, command: Command) => {
      const call = await openPartnerApi(command.optsWithGlobals<PartnerOptions>())
      const { items } = await readPage(call, options)
      printStyled(command, items, () => items.map(formatRequest).join('\n') || 'No requests found.')
    })

  logs
    .command('tail')
    .description('Print new requests until you press Ctrl-C')
    .option('--failed', 'only requests that failed')
    .option('--status <status>', 'only requests with this status, such as 404 or 4xx', parseStatus)
    .addHelpText(...examples('logs tail', 'logs tail --failed'))
    .action(async (options: Options, command: Command) => {
      const { profile, json } = command.optsWithGlobals<PartnerOptions & { json?: boolean }>()
      const call = await openPartnerApi({ profile, wait: true })
      const stopController = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopController.abort())
      console.error('Waiting for requests. Press Ctrl-C to stop.')
      const write = (request: LoggedRequest) =>
        console.log(json ? escapeControls(JSON.stringify(request)) : formatRequest(request))
      await tail(call, options, write, stopController.signal).catch((error) => {
        if (!stopController.signal.aborted) throw error
      })
    })

  return logs
}

function parseStatus(text: string): string {
  if (!/^[1-5](\d\d|xx)$/i.test(text))
    throw new InvalidArgumentError(`must be an HTTP status such as 404, or a class such as 4xx; got ${text}`)
  return text.toLowerCase()
}

async function tail(
  call: PartnerCall,
  options: Options,
  write: (request: LoggedRequest) => void,
  signal: AbortSignal,
): Promise<void> {
  let lastId = (await readPage(call, { ...options, limit: 1 })).items[0]?.id ?? 0
  let unavailable = false
  while (!signal.aborted) {
    await setTimeout(POLL_INTERVAL_MS, undefined, { signal })
    try {
      const newRequests = await readSince(call, options, lastId)
      unavailable = false
      // The calls of this command are logged too.
      for (const request of newRequests.filter(({ route }) => !route.endsWith('/request-log')).reverse()) write(request)
      lastId = newRequests[0]?.id ?? lastId
    } catch (error) {
      if (!(error instanceof ServerUnavailableError)) throw error
      if (!unavailable) console.error(`${error.message.replace(/\.$/, '')}; retrying.`)
      unavailable = true
    }
  }
}

/** Returns the requests after an entry, newest first. */
async function readSince(call: PartnerCall, options: Options, lastId: number): Promise<LoggedRequest[]> {
  const found: LoggedRequest[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await readPage(call, { ...options, limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) })
    const newRequests = page.items.filter(({ id }) => id > lastId)
    found.push(...newRequests)
    if (newRequests.length < page.items.length || page.next_cursor === null) return found
    cursor = page.next_cursor
  }
}

async function readPage(
  call: PartnerCall,
  { failed, status, requestId, limit, cursor }: Options & { cursor?: string },
): Promise<{ items: LoggedRequest[]; next_cursor: string | null }> {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(failed ? { failed: 'true' } : {}),
    ...(status ? { status } : {}),
    ...(requestId ? { request_id: requestId } : {}),
    ...(cursor ? { cursor } : {}),
  })
  return call('GET', `/request-log?${query}`)
}

function formatRequest({
  at,
  method,
  route,
  path = route,
  status,
  code,
  duration_ms,
  request_id,
  differed,
}: LoggedRequest): string {
  const line = [
    styleText('dim', at),
    styleText(status >= 400 ? 'red' : 'green', String(status)),
    method.padEnd(6),
    removeControls(path), // servers of earlier versions return the route only
    code ?? '',
    styleText('dim', `${Math.round(duration_ms)} ms ${request_id}`),
  ]
  const reasons = differed.map(
    ({ path, message }) => `    ${removeControls(`${path}: ${message}`).replaceAll('\n', '\n      ')}`,
  )
  return [line.filter(Boolean).join('  '), ...reasons].join('\n')
}
