import type { Command } from 'commander'

/** In the order of the help. A command's code is loaded when it is asked for; for the help, that of all. */
export const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  org: async () => (await import('./org.ts')).orgCommand(),
  key: async () => (await import('./key.ts')).keyCommand(),
  member: async () => (await import('./member.ts')).memberCommand(),
  credits: async () => (await import('./credits.ts')).creditsCommand(),
  channels: async () => (await import('./channels.ts')).channelsCommand(),
  service: async () => (await import('./service.ts')).serviceCommand(),
  skills: async () => (await import('./skills.ts')).skillsCommand(),
  playground: async () => (await import('./playground.ts')).playgroundCommand(),
  request: async () => (await import('./request.ts')).requestCommand(),
  listen: async () => (await import('./listen.ts')).listenCommand(),
  events: async () => (await import('./events.ts')).eventsCommand(),
  mail: async () => (await import('./mail.ts')).mailCommand(),
  'master-key': async () => (await import('./master-key.ts')).masterKeyCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
}
