import { Command } from 'commander'
import { examples } from '../examples.ts'
import { exportItemsCommand, importItemsCommand } from './items-exchange.ts'
import {
  exportResponsesCommand,
  listItemsCommand,
  restoreItemCommand,
  retireItemCommand,
  showItemCommand,
} from './items-statistics.ts'

export function itemsCommand(): Command {
  const items = new Command('items')
    .description("Manage an organisation's question bank, and show, retire and restore questions")
    .addHelpText(
      ...examples(
        'items import --org ORG_… questions.csv --dry-run',
        'items export --org ORG_… --format qti',
        'items list --skill sk_2001',
        'items restore ITEM_ID',
      ),
    )
  items.addCommand(importItemsCommand())
  items.addCommand(exportItemsCommand())
  items.addCommand(listItemsCommand())
  items.addCommand(showItemCommand())
  items.addCommand(retireItemCommand())
  items.addCommand(restoreItemCommand())
  items.addCommand(exportResponsesCommand())
  return items
}
