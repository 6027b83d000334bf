import { Command, InvalidArgumentError, Option } from 'commander'
import { examples } from '../examples.ts'
import { NO_WAIT } from '../listen-loop.ts'
import { wholeNumber } from '../options.ts'
import { openPartner } from '../partner-call.ts'
import { print, table } from '../print.ts'

interface EventRow {
  event_id: string
  type: string
  sequence: number
  created_at: string
  delivery: {
    acknowledged_at: string | null
    acknowledged_by: string | null
    attempts: number
    last_error: string | null
  }
}

interface ListOptions {
  acknowledged: string
  types?: string
  limit: number
  wait: boolean
}

interface ReplayOptions {
  webhook: string
  from?: string
  to?: string
  onlyFailed?: boolean
  wait: boolean
}

export function eventsCommand(): Command {
  const events = new Command('events')
    .description('what partners are told of; calls are signed as for "attestry request"')
    .addHelpText(...examples('events list', 'events replay --webhook WH_… EV_…'))

  events
    .command('list')
    .description('oldest first')
    .addOption(
      new Option('--acknowledged <which>', 'which events to show').choices(['false', 'true', 'all']).default('false'),
    )
    .option('--types <list>', 'only these types, separated by commas')
    .option('--limit <n>', 'how many', wholeNumber(1, 100), 25)
    .option(...NO_WAIT)
    .addHelpText(...examples('events list --acknowledged all --types result.completed,result.failed'))
    .action(async (options: ListOptions, command: Command) => {
      const call = await openPartner(options)
      const query = new URLSearchParams({
        acknowledged: options.acknowledged,
        limit: String(options.limit),
        ...(options.types ? { types: options.types } : {}),
      })
      const { items } = await call<{ items: EventRow[] }>('GET', `/events?${query}`)
      print(command, items, () =>
        table(
          ['EVENT', 'TYPE', 'SEQUENCE', 'CREATED', 'ACKNOWLEDGED', 'ATTEMPTS', 'LAST ERROR'],
          items.map(({ delivery, ...event }) => [
            event.event_id,
            event.type,
            event.sequence,
            event.created_at,
            delivery.acknowledged_by,
            delivery.attempts,
            delivery.last_error?.replace(/\s+/g, ' '),
          ]),
          options.acknowledged === 'false' ? 'Every event is acknowledged.' : 'There are no such events.',
        ),
      )
    })

  events
    .command('replay')
    .description('send events to a webhook endpoint again')
    .argument('[events...]', 'EV_…, up to 100; or none with --from and --to')
    .requiredOption('--webhook <webhook>', 'the endpoint, WH_…')
    .option('--from <time>', 'everything since, ISO 8601', time)
    .option('--to <time>', 'everything before, ISO 8601', time)
    .option('--only-failed', 'leave out what the endpoint has acknowledged')
    .option(...NO_WAIT)
    .addHelpText(
      ...examples(
        'events replay --webhook WH_… EV_… EV_…',
        'events replay --webhook WH_… --from 2026-03-01T00:00:00Z --only-failed',
      ),
    )
    .action(async (ids: string[], { webhook, from, to, onlyFailed, wait }: ReplayOptions, command: Command) => {
      const call = await openPartner({ wait })
      const body =
        ids.length > 0
          ? { event_ids: ids }
          : { ...(from ? { from } : {}), ...(to ? { to } : {}), ...(onlyFailed ? { only_failed: true } : {}) }
      const data = await call<{ replayed: number }>('POST', `/webhooks/${webhook}/replay`, { body })
      print(command, data, () => `${data.replayed} ${data.replayed === 1 ? 'event goes' : 'events go'} out again.`)
    })

  return events
}

function time(text: string): string {
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN)
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('Expected ISO 8601, such as 2030-01-31T00:00:00Z.')
  return date.toISOString()
}
