import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { styleText } from 'node:util'
import { Command, InvalidArgumentError } from 'commander'
import { request } from 'undici'
import { signWebhook } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { openPartner, type PartnerCall, Unavailable } from '../partner-call.ts'

interface Options {
  forwardTo: string
  ack?: boolean
  types?: string
  secret?: string
}

interface PulledEvent {
  event_id: string
  type: string
  delivery: unknown
}

const WAIT = 25
const AGAIN = 1000

export function listenCommand(): Command {
  return new Command('listen')
    .description('pull events and forward them, signed like webhooks, to a local address')
    .requiredOption('--forward-to <url>', 'where to, such as http://localhost:3000/webhooks', httpUrl)
    .option('--ack', 'acknowledge what was answered with 2xx; without it nothing changes on the server')
    .option('--types <list>', 'only these types of event, separated by commas')
    .option('--secret <whsec>', 'sign with this secret; without it one is made and shown', webhookSecret)
    .addHelpText(
      'after',
      `
Starts with the events that nobody has acknowledged and goes on until Ctrl-C. While the address does not answer, the event is
tried again; what the address refuses is shown, stays unacknowledged and is passed over until the next time you listen.
The key is found as for "attestry request".`,
    )
    .addHelpText(...examples('listen --forward-to http://localhost:3000/webhooks --ack --types result.completed'))
    .action(async (options: Options) => {
      const call = await openPartner({ wait: false }) // it goes on by itself, however long that takes
      const secret = options.secret ?? `whsec_${randomBytes(24).toString('base64')}`
      const stopping = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
      console.error(`Forwarding events to ${options.forwardTo}, signed with ${secret}`)
      console.error(
        options.ack ? 'Answers of 2xx acknowledge. Ctrl-C stops.' : 'Nothing is acknowledged. Ctrl-C stops.',
      )
      await listen(call, { ...options, secret }, stopping.signal).catch((error) => {
        if (!stopping.signal.aborted) throw error
      })
    })
}

async function listen(call: PartnerCall, options: Options & { secret: string }, signal: AbortSignal) {
  let after: string | undefined
  let down = false
  while (!signal.aborted) {
    const query = new URLSearchParams({
      wait: String(WAIT),
      limit: '100',
      ...(after ? { after } : {}),
      ...(options.types ? { types: options.types } : {}),
    })
    try {
      const { items } = await call<{ items: PulledEvent[] }>('GET', `/events?${query}`, { signal })
      if (down) console.error('The server is back.')
      down = false
      const taken: string[] = []
      for (const event of items) {
        const answered = await forward(event, options, signal)
        after = event.event_id
        if (answered) taken.push(event.event_id)
      }
      if (options.ack && taken.length > 0) await acknowledge(call, taken, signal)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      if (!down) console.error(`${error.message}; trying again until it answers.`)
      down = true
      await setTimeout(pauseAfter(error), undefined, { signal })
    }
  }
}

/** What was forwarded must not be forwarded again only because the server was away for a moment. */
async function acknowledge(call: PartnerCall, event_ids: string[], signal: AbortSignal) {
  while (true) {
    try {
      await call('POST', '/events/ack', { body: { event_ids }, signal })
      return
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      await setTimeout(pauseAfter(error), undefined, { signal })
    }
  }
}

/** A key that is over its limit is not called with again before the call could pass. */
function pauseAfter({ retryAfter }: Unavailable): number {
  return Math.max(AGAIN, (retryAfter ?? 0) * 1000)
}

/** Whether the address took the event. While nobody listens there, it is tried again. */
async function forward(
  { delivery: _, ...event }: PulledEvent,
  { forwardTo, secret }: Options & { secret: string },
  signal: AbortSignal,
): Promise<boolean> {
  const body = JSON.stringify(event)
  for (let tries = 1; ; tries++) {
    const started = performance.now()
    try {
      const headers = {
        'content-type': 'application/json',
        ...(await signWebhook(body, { id: event.event_id, secret })),
      }
      const answer = await request(forwardTo, { method: 'POST', headers, body, signal, headersTimeout: 10_000 })
      await answer.body.dump()
      const taken = answer.statusCode >= 200 && answer.statusCode < 300
      tell(event, String(answer.statusCode), taken, performance.now() - started)
      return taken
    } catch (error) {
      if (signal.aborted) throw error
      if (tries === 1) tell(event, `${(error as { code?: string }).code ?? error}; trying again`, false, undefined)
      await setTimeout(AGAIN, undefined, { signal })
    }
  }
}

function tell(
  { type, event_id }: Pick<PulledEvent, 'type' | 'event_id'>,
  answer: string,
  good: boolean,
  took?: number,
) {
  const time = new Date().toTimeString().slice(0, 8)
  const duration = took === undefined ? '' : styleText('dim', ` ${Math.round(took)} ms`)
  console.log(
    `${styleText('dim', time)}  ${styleText('cyan', type.padEnd(23))} ${event_id}  ${styleText(good ? 'green' : 'red', answer)}${duration}`,
  )
}

function httpUrl(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  const whole = url && /^https?:$/.test(url.protocol) && /[.:]|^localhost$/.test(url.host)
  if (!whole) throw new InvalidArgumentError('Expected an address such as http://localhost:3000/webhooks.')
  return url.href
}

function webhookSecret(text: string): string {
  if (!/^whsec_[A-Za-z0-9+/]{8,}={0,2}$/.test(text)) throw new InvalidArgumentError('Expected whsec_ and base64.')
  return text
}
