import type { Command } from 'commander'

/** Loads the module of a command. */
export type CommandLoader = () => Promise<Command>

/** Commands that speak to a server only. They also form the package @attestry/cli, which is installed without the server. */
export const partnerCommands: Record<string, CommandLoader> = {
  request: async () => (await import('./commands/request.ts')).requestCommand(),
  listen: async () => (await import('./commands/listen.ts')).listenCommand(),
  trigger: async () => (await import('./commands/trigger.ts')).triggerCommand(),
  fixtures: async () => (await import('./commands/fixtures.ts')).fixturesCommand(),
  clocks: async () => (await import('./commands/clocks.ts')).clocksCommand(),
  people: async () => (await import('./commands/people.ts')).peopleCommand(),
  events: async () => (await import('./commands/events.ts')).eventsCommand(),
  logs: async () => (await import('./commands/logs.ts')).logsCommand(),
  profile: async () => (await import('./commands/profile.ts')).profileCommand(),
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand(),
}

/** The other commands, which need the server; the package @attestry/cli does not have them. */
export const operatorCommandNames = [
  'init',
  'serve',
  'migrate',
  'upgrade',
  'org',
  'key',
  'member',
  'operator',
  'identity-provider',
  'second-factor',
  'credits',
  'spending',
  'channels',
  'ats',
  'service',
  'skills',
  'items',
  'playground',
  'endorsements',
  'credential',
  'mail',
  'privacy',
  'backup',
  'restore',
  'dead-letters',
  'audit',
  'master-key',
  'doctor',
]

/** Returns the commands with one that prints completion scripts for all of them. */
export function withCompletion(commands: Record<string, CommandLoader>): Record<string, CommandLoader> {
  const all: Record<string, CommandLoader> = {
    ...commands,
    completion: async () => {
      const { completionCommand } = await import('./commands/completion.ts')
      return completionCommand(() => Promise.all(Object.values(all).map((load) => load())))
    },
  }
  return all
}
