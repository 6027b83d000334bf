import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Command } from 'commander'
import type { Event, EventList } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { parseTime } from '../options.ts'
import { openPartnerApi, type PartnerCall, ServerUnavailableError } from '../partner-call.ts'
import { readProfile, settingsPath, writePrivateFile } from '../profile.ts'
import { parseHttpUrl, parseWebhookSecret, postSigned, RESPONSE_TIMEOUT_MS } from '../signed-delivery.ts'

interface Options {
  forwardTo: string
  ack?: boolean
  from?: Date | 'beginning'
  profile?: string
  types?: string
  consumer?: string
  secret?: string
}

const LONG_POLL_SECONDS = 25
const RETRY_INTERVAL_MS = 1000

export function listenCommand(): Command {
  return new Command('listen')
    .description('Forward events to a local URL, signed like webhook deliveries')
    .requiredOption('--forward-to <url>', 'target URL, such as http://localhost:3000/webhooks', parseHttpUrl)
    .option('--from <time>', 'also forward events since this time; "beginning": all stored events', parseStart)
    .option('--ack', 'acknowledge events that the target accepts with 2xx (default: events stay unacknowledged)')
    .option('--types <list>', 'only these event types, separated by commas')
    .option('--consumer <name>', 'pull and acknowledge as this consumer, independently of webhooks and other consumers')
    .option(
      '--secret <whsec>',
      'signing secret (default: generated once, then the same for every run)',
      parseWebhookSecret,
    )
    .addHelpText(
      'after',
      `
Forwards new events until you press Ctrl-C. With --ack, unacknowledged events of earlier times are forwarded first. While the target is
not reachable, the current event is retried. If the target rejects an event, the event is printed, stays unacknowledged, and is skipped
until you run the command again. Uses the same credentials as "attestry request".`,
    )
    .addHelpText(
      ...examples(
        'listen --forward-to http://localhost:3000/webhooks --types result.completed',
        'listen --forward-to http://localhost:3000/webhooks --from 2026-03-01T00:00:00Z',
        'listen --forward-to http://localhost:3000/webhooks --ack --consumer laptop',
      ),
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const call = await openPartnerApi({ profile: options.profile, wait: false }) // the loop below retries without a time limit
      await requireValidFilters(call, options)
      // With --ack, the acknowledgements are the position. Without it, only the time distinguishes new events.
      const start = options.from ?? (options.ack ? 'beginning' : await serverTime(options.profile))
      const secret = options.secret ?? (await listenSecret())
      const stopController = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopController.abort())
      console.error(`Forwarding events to ${options.forwardTo}, signed with ${secret}`)
      console.error(`${acknowledgementNote(options)} Press Ctrl-C to stop.`)
      await listen(call, { ...options, secret, start }, stopController.signal).catch((error) => {
        if (!stopController.signal.aborted) throw error
      })
    })
}

/** Throws if the server rejects the key, the event types or the consumer. A server that is not available is retried later. */
async function requireValidFilters(call: PartnerCall, { types, consumer }: Options): Promise<void> {
  const query = new URLSearchParams({
    limit: '1',
    acknowledged: 'all',
    ...(types ? { types } : {}),
    ...(consumer ? { consumer } : {}),
  })
  await call('GET', `/events?${query}`).catch((error) => {
    if (!(error instanceof ServerUnavailableError)) throw error
  })
}

/** Returns the signing secret of this computer, which is created by the first run. */
export async function listenSecret(): Promise<string> {
  const path = settingsPath(process.env, 'listen-secret')
  const stored = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (stored.startsWith('whsec_')) return stored
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  await writePrivateFile(path, `${secret}\n`)
  return secret
}

/** Returns the time of the server, whose clock may differ from the one of this computer. */
async function serverTime(profileName: string | undefined): Promise<Date> {
  const { baseUrl } = await readProfile(process.env, profileName)
  const response = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
  await response?.body?.cancel()
  return new Date(response?.headers.get('date') ?? Date.now())
}

function acknowledgementNote({ ack, consumer }: Options): string {
  if (!ack) return 'Events are not acknowledged.'
  if (consumer !== undefined) return `Events accepted with 2xx are acknowledged for the consumer ${consumer}.`
  return 'Warning: events accepted with 2xx are acknowledged for the consumer "default", so they are no longer sent to your webhook endpoints and no other program pulls them. To acknowledge them separately, add --consumer NAME.'
}

async function listen(
  call: PartnerCall,
  options: Options & { secret: string; start: Date | 'beginning' },
  signal: AbortSignal,
) {
  const { start } = options
  let after: string | undefined
  let unavailable = false
  while (!signal.aborted) {
    const query = new URLSearchParams({
      wait: String(LONG_POLL_SECONDS),
      limit: '100',
      acknowledged: options.ack ? 'false' : 'all',
      ...(after ? { after } : {}),
      ...(start === 'beginning' ? {} : { created_after: start.toISOString() }),
      ...(options.types ? { types: options.types } : {}),
      ...(options.consumer ? { consumer: options.consumer } : {}),
    })
    try {
      const { items } = await call<EventList>('GET', `/events?${query}`, { signal })
      if (unavailable) console.error('The server is available again.')
      unavailable = false
      const acceptedIds: string[] = []
      for (const event of items) {
        const wasAccepted = await forward(event, options, signal)
        after = event.event_id
        if (wasAccepted) acceptedIds.push(event.event_id)
      }
      if (options.ack && acceptedIds.length > 0) await acknowledge(call, acceptedIds, options.consumer, signal)
    } catch (error) {
      if (!(error instanceof ServerUnavailableError)) throw error
      if (!unavailable) console.error(`${error.message.replace(/\.?$/, '.')} Retrying.`)
      unavailable = true
      await setTimeout(retryDelayMs(error), undefined, { signal })
    }
  }
}

/** Acknowledges events, retrying while the server is unavailable, so that they are not forwarded a second time. */
async function acknowledge(call: PartnerCall, event_ids: string[], consumer: string | undefined, signal: AbortSignal) {
  while (true) {
    try {
      await call('POST', '/events/ack', { body: { event_ids, ...(consumer ? { consumer } : {}) }, signal })
      return
    } catch (error) {
      if (!(error instanceof ServerUnavailableError)) throw error
      await setTimeout(retryDelayMs(error), undefined, { signal })
    }
  }
}

/** Returns the delay before the next call; after a rate limit error, at least the time that the server requested. */
function retryDelayMs({ retryAfter }: ServerUnavailableError): number {
  return Math.max(RETRY_INTERVAL_MS, (retryAfter ?? 0) * 1000)
}

/** Sends an event to the target, retrying while it is not reachable. Returns whether the target accepted it with 2xx. */
async function forward(
  { delivery: _, ...event }: Event,
  { forwardTo, secret }: Options & { secret: string },
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { status, accepted, durationMs } = await postSigned(forwardTo, event, secret, signal)
      printForwarded(event, String(status), accepted, durationMs)
      return accepted
    } catch (error) {
      if (signal.aborted) throw error
      if (attempt === 1)
        printForwarded(
          event,
          `${failureReason(error)} at ${forwardTo}; retrying every ${RETRY_INTERVAL_MS / 1000} s until it responds`,
          false,
          undefined,
        )
      await setTimeout(RETRY_INTERVAL_MS, undefined, { signal })
    }
  }
}

function failureReason(error: unknown): string {
  const { name, code, message } = ((error as Error).cause ?? error) as Error & { code?: unknown }
  if (name === 'TimeoutError') return `no response within ${RESPONSE_TIMEOUT_MS / 1000} s`
  return typeof code === 'string' ? code : message
}

function printForwarded(
  { type, event_id }: Pick<Event, 'type' | 'event_id'>,
  outcome: string,
  accepted: boolean,
  durationMs?: number,
) {
  const time = new Date().toTimeString().slice(0, 8)
  const duration = durationMs === undefined ? '' : styleText('dim', ` ${Math.round(durationMs)} ms`)
  console.log(
    `${styleText('dim', time)}  ${styleText('cyan', type.padEnd(23))} ${event_id}  ${styleText(accepted ? 'green' : 'red', outcome)}${duration}`,
  )
}

function parseStart(text: string): Date | 'beginning' {
  return text === 'beginning' ? text : parseTime(text)
}
