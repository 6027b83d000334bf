import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Command, InvalidArgumentError } from 'commander'
import { request } from 'undici'
import { type Event, type EventList, signWebhook } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { openPartnerApi, type PartnerCall, ServerUnavailableError } from '../partner-call.ts'

interface Options {
  forwardTo: string
  ack?: boolean
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
    .option('--ack', 'acknowledge events that the target accepts with 2xx (default: events stay unacknowledged)')
    .option('--types <list>', 'only these event types, separated by commas')
    .option('--consumer <name>', 'pull and acknowledge as this consumer, independently of webhooks and other consumers')
    .option('--secret <whsec>', 'signing secret (default: generated and printed)', parseWebhookSecret)
    .addHelpText(
      'after',
      `
Forwards unacknowledged events first, then new events until you press Ctrl-C. While the target is not reachable, the current event
is retried. If the target rejects an event, the event is printed, stays unacknowledged, and is skipped until you run the command again.
Uses the same credentials as "attestry request".`,
    )
    .addHelpText(...examples('listen --forward-to http://localhost:3000/webhooks --ack --types result.completed'))
    .action(async (options: Options) => {
      const call = await openPartnerApi({ wait: false }) // the loop below retries without a time limit
      const secret = options.secret ?? `whsec_${randomBytes(24).toString('base64')}`
      const stopController = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopController.abort())
      console.error(`Forwarding events to ${options.forwardTo}, signed with ${secret}`)
      console.error(
        `${options.ack ? 'Events accepted with 2xx are acknowledged.' : 'Events are not acknowledged.'} Press Ctrl-C to stop.`,
      )
      await listen(call, { ...options, secret }, stopController.signal).catch((error) => {
        if (!stopController.signal.aborted) throw error
      })
    })
}

async function listen(call: PartnerCall, options: Options & { secret: string }, signal: AbortSignal) {
  let after: string | undefined
  let unavailable = false
  while (!signal.aborted) {
    const query = new URLSearchParams({
      wait: String(LONG_POLL_SECONDS),
      limit: '100',
      ...(after ? { after } : {}),
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
      if (!unavailable) console.error(`${error.message.replace(/\.$/, '')}; retrying.`)
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
  const body = JSON.stringify(event)
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now()
    try {
      const headers = {
        'content-type': 'application/json',
        ...(await signWebhook(body, { id: event.event_id, secret })),
      }
      const response = await request(forwardTo, { method: 'POST', headers, body, signal, headersTimeout: 10_000 })
      await response.body.dump()
      const accepted = response.statusCode >= 200 && response.statusCode < 300
      printForwarded(event, String(response.statusCode), accepted, performance.now() - startedAt)
      return accepted
    } catch (error) {
      if (signal.aborted) throw error
      if (attempt === 1)
        printForwarded(event, `${(error as { code?: string }).code ?? error}; retrying`, false, undefined)
      await setTimeout(RETRY_INTERVAL_MS, undefined, { signal })
    }
  }
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

function parseHttpUrl(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  const valid = url && /^https?:$/.test(url.protocol) && /[.:]|^localhost$/.test(url.host)
  if (!valid) throw new InvalidArgumentError('Expected a URL such as http://localhost:3000/webhooks.')
  return url.href
}

function parseWebhookSecret(text: string): string {
  if (!/^whsec_[A-Za-z0-9+/]{8,}={0,2}$/.test(text))
    throw new InvalidArgumentError('Expected whsec_ followed by at least 8 base64 characters.')
  return text
}
