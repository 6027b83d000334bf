import { type CommandLoader, partnerCommands, withCompletion } from './partner-commands.ts'

/** The commands in the order of the help. A command's module is loaded when the command runs; the help loads all of them. */
export const commands: Record<string, CommandLoader> = withCompletion({
  init: async () => (await import('./commands/init.ts')).initCommand(),
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  org: async () => (await import('./commands/org.ts')).orgCommand(),
  key: async () => (await import('./commands/key.ts')).keyCommand(),
  member: async () => (await import('./commands/member.ts')).memberCommand(),
  operator: async () => (await import('./commands/operator.ts')).operatorCommand(),
  credits: async () => (await import('./commands/credits.ts')).creditsCommand(),
  channels: async () => (await import('./commands/channels.ts')).channelsCommand(),
  ats: async () => (await import('./commands/ats.ts')).atsCommand(),
  service: async () => (await import('./commands/service.ts')).serviceCommand(),
  skills: async () => (await import('./commands/skills.ts')).skillsCommand(),
  items: async () => (await import('./commands/items.ts')).itemsCommand(),
  playground: async () => (await import('./commands/playground.ts')).playgroundCommand(),
  ...partnerCommands,
  endorsements: async () => (await import('./commands/endorsements.ts')).endorsementsCommand(),
  credential: async () => (await import('./commands/credential.ts')).credentialCommand(),
  mail: async () => (await import('./commands/mail.ts')).mailCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
  'dead-letters': async () => (await import('./commands/dead-letters.ts')).deadLettersCommand(),
  audit: async () => (await import('./commands/audit-log.ts')).auditCommand(),
  'master-key': async () => (await import('./commands/master-key.ts')).masterKeyCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
})
