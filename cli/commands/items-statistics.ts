import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { skillId, skillNumber } from '../../server/catalogue/ids.ts'
import {
  getItemReport,
  type ItemReport,
  listRetiredItems,
  reportBankItems,
  reportItems,
  showTexts,
} from '../../server/items/item-reports.ts'
import { getItemRef, type ItemRef, restoreItem, retireItem } from '../../server/items/item-status.ts'
import { languagesOfItem } from '../../server/items/items.ts'
import { exportResponses } from '../../server/items/response-export.ts'
import { KEY } from '../../server/measurement/form.ts'
import type { Tx } from '../../server/platform/database/database.ts'
import { createLog } from '../../server/platform/log.ts'
import { examples } from '../examples.ts'
import { parseMode, wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { type CliStore, withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface ListOptions {
  skill?: number
  org?: string
  limit: number
}

export function listItemsCommand(): Command {
  return new Command('list')
    .description('List the questions of a skill with their statistics, or all retired questions')
    .option('--skill <skill>', 'skill ID, sk_…; without it, all retired questions', parseSkill)
    .option('--org <org>', "also the organisation's own questions, ORG_…")
    .option('--limit <n>', 'maximum number of retired questions', wholeNumberParser(1, 1000), 100)
    .addHelpText(...examples('items list', 'items list --skill sk_2001', 'items list --skill sk_2001 --org ORG_…'))
    .action(async ({ skill, org, limit }: ListOptions, command: Command) => {
      if (skill === undefined) return listRetired(command, limit)
      const reports = await withStore(async ({ db }) => {
        if (org) await getOrganisation(db.queries, org)
        return org ? reportItems(db.queries, org, skill) : reportBankItems(db.queries, skill)
      })
      print(command, reports.map(itemRecord), () =>
        table(
          [
            ...['ITEM', 'EXTERNAL ID', 'SOURCE', 'KIND', 'LANGUAGES', 'STATUS', 'REASON'],
            ...['RESPONSES', 'CORRECT', 'DISCRIMINATION', 'DIFFICULTY', 'SECONDS'],
          ],
          reports
            .map(itemRecord)
            .map((item) => [
              item.item_id,
              item.external_id,
              item.source,
              item.kind,
              item.languages,
              item.status,
              item.retirement_reason,
              item.responses,
              item.correct_share,
              item.discrimination,
              item.difficulty,
              item.median_seconds,
            ]),
          `${skillId(skill)} has no questions in the built-in bank${org ? ` or of ${org}` : ''}.`,
        ),
      )
    })
}

async function listRetired(command: Command, limit: number): Promise<void> {
  const items = await withStore(({ db }) => listRetiredItems(db.queries, limit))
  const records = items.map(({ skill_number, ...item }) => ({ skill_id: skillId(skill_number), ...item }))
  print(command, records, () =>
    table(
      ['ITEM', 'EXTERNAL ID', 'SKILL', 'SOURCE', 'ORGANISATION', 'REASON', 'RETIRED'],
      records.map((item) => [
        item.item_id,
        item.external_id,
        item.skill_id,
        item.source,
        item.org_id,
        item.retirement_reason,
        item.retired_at,
      ]),
      'No retired questions.',
    ),
  )
}

export function showItemCommand(): Command {
  return new Command('show')
    .description('Show the statistics of a question (the text only if it is built in)')
    .argument('<item>', 'question ID')
    .addHelpText(...examples('items show ITEM_ID'))
    .action(async (itemId: string, _options: object, command: Command) => {
      const report = await withStore(async ({ db }) => {
        const item = await getItemRef(db.queries, undefined, itemId)
        if (item.orgId) return getItemReport(db.queries, item.orgId, item.skillNumber, itemId)
        return (await reportBankItems(db.queries, item.skillNumber)).find((each) => each.itemId === itemId)!
      })
      const texts = report.source === 'bank' ? showTexts(report.item) : null
      print(command, { ...itemRecord(report), statistics: report.statistics, texts }, () => describeItem(report))
    })
}

export function retireItemCommand(): Command {
  return new Command('retire')
    .description('Retire a question: it is not asked any more, and mandates that use it get an event')
    .argument('<item>', 'question ID')
    .option('--miskeyed', 'its key is wrong: also revoke the credentials whose verdict depends on it')
    .addHelpText(...examples('items retire ITEM_ID', 'items retire ITEM_ID --miskeyed'))
    .action(async (itemId: string, { miskeyed }: { miskeyed?: true }, command: Command) => {
      const isChanged = await changeStatus(itemId, 'item.retire', (tx, deps, item) =>
        retireItem(tx, deps, item, miskeyed ? 'miskeyed' : 'manual'),
      )
      print(command, { item_id: itemId, status: 'retired', changed: isChanged }, () =>
        isChanged ? `Retired ${itemId}.` : `${itemId} is already retired.`,
      )
    })
}

export function restoreItemCommand(): Command {
  return new Command('restore')
    .description('Restore a retired question; only responses from now on can retire it again')
    .argument('<item>', 'question ID')
    .addHelpText(...examples('items restore ITEM_ID'))
    .action(async (itemId: string, _options: object, command: Command) => {
      const isChanged = await changeStatus(itemId, 'item.restore', restoreItem)
      print(command, { item_id: itemId, status: 'active', changed: isChanged }, () =>
        isChanged ? `Restored ${itemId}.` : `${itemId} is not retired.`,
      )
    })
}

export function exportResponsesCommand(): Command {
  return new Command('responses')
    .description('Write the responses of an organisation to its questions as CSV, without people and times of day')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .option('--mode <mode>', 'test or live', parseMode, 'live')
    .option('--csv', 'the only format, and the default')
    .addHelpText(...examples('items responses --org ORG_… --csv > responses.csv'))
    .action(async ({ org, mode }: { org: string; mode: Mode }) => {
      await withStore(async ({ db, clock }) => {
        await db.transaction(async (tx) => {
          await getOrganisation(tx, org)
          await recordCliChange(tx, clock, { orgId: org, mode, action: 'responses.export' })
        })
        for await (const part of exportResponses(db, { orgId: org, mode }))
          if (!process.stdout.write(part)) await once(process.stdout, 'drain')
      })
    })
}

async function changeStatus(
  itemId: string,
  action: string,
  change: (
    tx: Tx,
    deps: Pick<CliStore, 'clock'> & { log: ReturnType<typeof createLog> },
    item: ItemRef,
  ) => Promise<boolean>,
): Promise<boolean> {
  const log = createLog('warn', { write: (line) => process.stderr.write(line) })
  return withStore(({ db, clock }) =>
    db.transaction(async (tx) => {
      const item = await getItemRef(tx, undefined, itemId)
      const isChanged = await change(tx, { clock, log }, item)
      if (isChanged)
        await recordCliChange(tx, clock, {
          orgId: item.orgId,
          action,
          subject: itemId,
          details: { skill: skillId(item.skillNumber) },
        })
      return isChanged
    }),
  )
}

function parseSkill(text: string): number {
  const number = skillNumber(text)
  if (number === undefined) throw new InvalidArgumentError('Expected a skill ID, such as sk_2001.')
  return number
}

function itemRecord(report: ItemReport) {
  const { statistics } = report
  return {
    item_id: report.itemId,
    external_id: report.externalId,
    skill_id: skillId(report.skillNumber),
    source: report.source,
    kind: report.kind,
    languages: languagesOfItem(report.item),
    status: report.status,
    retirement_reason: report.retirementReason,
    retired_at: report.retiredAt?.toISOString() ?? null,
    difficulty: Math.round(100 * report.difficulty) / 100,
    responses: statistics?.responses ?? 0,
    correct_share: statistics?.correct_share ?? null,
    discrimination: statistics?.discrimination ?? null,
    median_seconds: statistics?.median_seconds ?? null,
  }
}

function describeItem(report: ItemReport): string {
  const record = itemRecord(report)
  const { statistics } = report
  const fields = fieldList([
    ['Question', record.item_id],
    ['External ID', record.external_id],
    ['Skill', record.skill_id],
    ['Source', record.source],
    ['Kind', record.kind],
    ['Languages', record.languages],
    ['Status', record.retirement_reason ? `${record.status} (${record.retirement_reason})` : record.status],
    ['Responses', statistics ? `${statistics.responses} (LIVE)` : 'none in LIVE yet'],
    ['Correct', record.correct_share],
    ['Discrimination', record.discrimination],
    ['Difficulty', record.difficulty],
    ['Median seconds', record.median_seconds],
  ])
  const text = report.source === 'bank' ? showTexts(report.item).find(({ language }) => language === 'en') : undefined
  const options = statistics
    ? table(
        ['OPTION', 'CHOSEN', 'MEAN ABILITY', 'TEXT'],
        statistics.options.map(({ option, responses, mean_ability }) => [
          optionName(option),
          responses,
          mean_ability,
          option === null ? undefined : text?.options[option + 1],
        ]),
        '',
      )
    : table(['OPTION', 'TEXT'], text?.options.map((option, index) => [optionName(index - 1), option]) ?? [], '')
  return [fields, text?.stem, options].filter(Boolean).join('\n\n')
}

/** Returns the name of an option; distractors have the same numbers as in a file to import. */
function optionName(option: number | null): string {
  if (option === null) return 'no answer'
  return option === KEY ? 'key' : `distractor ${option + 1}`
}
