import { Command } from 'commander'
import { readMigrations } from '../../server/platform/database/migrate.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Apply missing database migrations (the server also does this when it starts). Creates the embedded database if DATA_DIR is set and contains none',
    )
    .addHelpText(...examples('migrate'))
    .action(async (_options: object, command: Command) => {
      const migrations = await readMigrations()
      // Opening the store applies missing migrations.
      await withStore(async () => {}, { createsDatabase: Boolean(process.env.DATA_DIR) })
      print(
        command,
        { migrations: migrations.map(({ name }) => name) },
        () => `The database is up to date (${migrations.length} migrations).`,
      )
    })
}
