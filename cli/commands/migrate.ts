import { Command } from 'commander'
import { readMigrations } from '../../server/platform/database/migrate.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Apply missing database migrations (the server also does this when it starts)')
    .addHelpText(...examples('migrate'))
    .action(async (_options: object, command: Command) => {
      const migrations = await readMigrations()
      // Opening the store applies missing migrations.
      await withStore(async () => {})
      print(
        command,
        { migrations: migrations.map(({ name }) => name) },
        () => `The database is up to date (${migrations.length} migrations).`,
      )
    })
}
