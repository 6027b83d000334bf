import { Command, InvalidArgumentError, Option } from 'commander'
import type { EventList } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { wholeNumberParser } from '../options.ts'
import { openPartnerApi, type PartnerOptions } from '../partner-call.ts'
import { print, table } from '../print.ts'
import { NO_WAIT_OPTION } from '../rate-limit-retry.ts'

interface ListOptions {
  acknowledged: string
  types?: string
  consumer?: string
  limit: number
}

interface ReplayOptions {
  webhook: string
  from?: string
  to?: string
  onlyFailed?: boolean
}

export function eventsCommand(): Command {
  const events = new Command('events')
    .description('List and replay events (uses the same credentials as "attestry request")')
    .addHelpText(...examples('events list', 'events replay --webhook WH_… EV_…'))

  events
    .command('list')
    .description('List events, oldest first')
    .addOption(
      new Option('--acknowledged <which>', 'false: unacknowledged events, true: acknowledged events, all: both')
        .choices(['false', 'true', 'all'])
        .default('false'),
    )
    .option('--types <list>', 'only these event types, separated by commas')
    .option('--consumer <name>', 'the consumer whose acknowledgements count (without it: the consumer "default")')
    .option('--limit <n>', 'maximum number of events', wholeNumberParser(1, 100), 25)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('events list --acknowledged all --types result.completed,result.failed'))
    .action(async (options: ListOptions, command: Command) => {
      const call = await openPartnerApi(command.optsWithGlobals<PartnerOptions>())
      const query = new URLSearchParams({
        acknowledged: options.acknowledged,
        limit: String(options.limit),
        ...(options.types ? { types: options.types } : {}),
        ...(options.consumer ? { consumer: options.consumer } : {}),
      })
      const { items } = await call<EventList>('GET', `/events?${query}`)
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
          options.acknowledged === 'false' ? 'No unacknowledged events.' : 'No events found.',
        ),
      )
    })

  events
    .command('replay')
    .description('Send events to a webhook endpoint again')
    .argument(
      '[events...]',
      'up to 100 event IDs, EV_…; omit them to select events with --from, --to and --only-failed',
    )
    .requiredOption('--webhook <webhook>', 'webhook endpoint ID, WH_…')
    .option('--from <time>', 'only events created at or after this ISO 8601 time', parseTime)
    .option('--to <time>', 'only events created before this ISO 8601 time', parseTime)
    .option('--only-failed', 'only events that the endpoint has not acknowledged')
    .option(...NO_WAIT_OPTION)
    .addHelpText(
      ...examples(
        'events replay --webhook WH_… EV_… EV_…',
        'events replay --webhook WH_… --from 2026-03-01T00:00:00Z --only-failed',
      ),
    )
    .action(async (ids: string[], { webhook, from, to, onlyFailed }: ReplayOptions, command: Command) => {
      const selectsByTime = from !== undefined || to !== undefined || onlyFailed === true
      if (ids.length > 0 === selectsByTime)
        throw new Error('select events either by their IDs, or with at least one of --from, --to and --only-failed')
      const call = await openPartnerApi(command.optsWithGlobals<PartnerOptions>())
      const body =
        ids.length > 0
          ? { event_ids: ids }
          : { ...(from ? { from } : {}), ...(to ? { to } : {}), ...(onlyFailed ? { only_failed: true } : {}) }
      const data = await call<{ replayed: number }>('POST', `/webhooks/${webhook}/replay`, { body })
      print(command, data, () => `Queued ${data.replayed} ${data.replayed === 1 ? 'event' : 'events'} for delivery.`)
    })

  return events
}

function parseTime(text: string): string {
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN)
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('Expected an ISO 8601 time, such as 2030-01-31T00:00:00Z.')
  return date.toISOString()
}
