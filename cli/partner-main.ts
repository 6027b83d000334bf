#!/usr/bin/env node
import { operatorCommandNames, partnerCommands, withCompletion } from './partner-commands.ts'
import { createProgram, exitCodeOf, runProgram } from './program.ts'

// The program of the package @attestry/cli: the commands for partners, without the server.

const program = createProgram(
  'Calls an Attestry server as a partner: signed requests, events, logs and tools.',
).addHelpText(
  'after',
  `
Examples:
  $ attestry profile save acme-test --url https://verify.example.com --key-id VFN_TEST_…
  $ attestry request GET /shifts --profile acme-test
  $ attestry listen --forward-to http://localhost:3000/webhooks --profile acme-test`,
)
await runProgram(program, withCompletion(partnerCommands), {
  reportError: (error) => {
    const exitCode = exitCodeOf(error)
    if (exitCode === undefined) console.error(`attestry: ${error instanceof Error ? error.message : String(error)}`)
    return exitCode ?? 1
  },
  unknownCommandHint: (name) =>
    operatorCommandNames.includes(name)
      ? `This package has the commands for partners. Operators run \`npx attestry ${name}\` in the checkout of the server.`
      : undefined,
})
