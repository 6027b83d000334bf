import { setTimeout as pause } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { examples } from '../examples.ts'
import { parseTime, wholeNumberParser } from '../options.ts'
import { openPartnerApi, type PartnerCall, type PartnerOptions } from '../partner-call.ts'
import { fieldList, print, table } from '../print.ts'
import { NO_WAIT_OPTION } from '../rate-limit-retry.ts'

interface TestClock {
  test_clock_id: string
  name: string | null
  status: 'ready' | 'advancing' | 'archived'
  now: string
  advancing_to: string | null
}

interface AdvanceOptions {
  to?: Date
  days?: number
  hours?: number
  seconds?: number
  wait: boolean
}

const POLL_INTERVAL_MS = 500
const SECONDS_PER_HOUR = 3600
const SECONDS_PER_DAY = 86_400

export function clocksCommand(): Command {
  const clocks = new Command('clocks')
    .description(
      'Create and advance test clocks (uses the same credentials as "attestry request", which must be a TEST key)',
    )
    .addHelpText(...examples('clocks create --name "Follow-ups"', 'clocks advance TC_… --days 30'))

  clocks
    .command('create')
    .description('Create a test clock')
    .option('--name <name>', 'name of the clock')
    .option('--at <time>', 'time that the clock shows at first (default: now)', parseTime)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('clocks create --name "Follow-ups" --at 2030-01-31T09:00:00+05:30'))
    .action(async ({ name, at }: { name?: string; at?: Date }, command: Command) => {
      const call = await openPartnerApi(command.optsWithGlobals<PartnerOptions>())
      const body = { ...(name ? { name } : {}), ...(at ? { starts_at: at.toISOString() } : {}) }
      printClock(command, await call<TestClock>('POST', '/test-clocks', { body }))
    })

  clocks
    .command('list')
    .description('List test clocks, newest first')
    .option('--limit <n>', 'maximum number of clocks', wholeNumberParser(1, 100), 25)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('clocks list --limit 10'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const call = await openPartnerApi(command.optsWithGlobals<PartnerOptions>())
      const { items } = await call<{ items: TestClock[] }>('GET', `/test-clocks?limit=${limit}`)
      print(command, items, () =>
        table(
          ['CLOCK', 'STATUS', 'TIME', 'NAME'],
          items.map(({ test_clock_id, status, now, name }) => [test_clock_id, status, now, name]),
          'No test clocks.',
        ),
      )
    })

  clocks
    .command('show')
    .description('Show a test clock')
    .argument('<clock>', 'ID of the test clock, TC_…')
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('clocks show TC_…'))
    .action(async (id: string, _options: object, command: Command) => {
      printClock(command, await getClock(await openPartnerApi(command.optsWithGlobals<PartnerOptions>()), id))
    })

  clocks
    .command('advance')
    .description('Advance a test clock, and wait until everything that became due has happened')
    .argument('<clock>', 'ID of the test clock, TC_…')
    .addOption(new Option('--to <time>', 'new time').argParser(parseTime).conflicts(['days', 'hours', 'seconds']))
    .option('--days <n>', 'number of days', wholeNumberParser(1, 366))
    .option('--hours <n>', 'number of hours', wholeNumberParser(1, 8784))
    .option('--seconds <n>', 'number of seconds', wholeNumberParser(1, 31_622_400))
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('clocks advance TC_… --days 30', 'clocks advance TC_… --to 2030-02-28T09:00:00Z'))
    .action(async (id: string, options: AdvanceOptions, command: Command) => {
      const body = advanceBody(options)
      const call = await openPartnerApi(command.optsWithGlobals<PartnerOptions>())
      let clock = await call<TestClock>('POST', `/test-clocks/${encodeURIComponent(id)}/advance`, { body })
      while (clock.status === 'advancing') {
        await pause(POLL_INTERVAL_MS)
        clock = await getClock(call, id)
      }
      printClock(command, clock)
    })

  clocks
    .command('archive')
    .description('Archive a test clock permanently')
    .argument('<clock>', 'ID of the test clock, TC_…')
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('clocks archive TC_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const call = await openPartnerApi(command.optsWithGlobals<PartnerOptions>())
      printClock(command, await call<TestClock>('DELETE', `/test-clocks/${encodeURIComponent(id)}`))
    })
  return clocks
}

function getClock(call: PartnerCall, id: string): Promise<TestClock> {
  return call<TestClock>('GET', `/test-clocks/${encodeURIComponent(id)}`)
}

function advanceBody({ to, days = 0, hours = 0, seconds = 0 }: AdvanceOptions): { to: string } | { seconds: number } {
  if (to) return { to: to.toISOString() }
  const total = days * SECONDS_PER_DAY + hours * SECONDS_PER_HOUR + seconds
  if (total === 0) throw new Error('Set --to, or at least one of --days, --hours and --seconds.')
  return { seconds: total }
}

function printClock(command: Command, clock: TestClock): void {
  print(command, clock, () =>
    fieldList([
      ['Clock', clock.test_clock_id],
      ['Name', clock.name],
      ['Status', clock.status],
      ['Time', clock.now],
      ...(clock.advancing_to === null ? [] : ([['Advancing to', clock.advancing_to]] as [string, string][])),
    ]),
  )
}
