import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** Parses the arguments of a script like `parseArgs`. Ends the process with a message if they are wrong. */
export function parseOptions<const Options extends ParseArgsOptionsConfig, const Positionals extends boolean = false>(
  options: Options,
  { allowPositionals }: { allowPositionals?: Positionals } = {},
): ReturnType<typeof parseArgs<{ options: Options; allowPositionals: Positionals }>> {
  try {
    return parseArgs({ options, allowPositionals } as ParseArgsConfig) as never
  } catch (error) {
    console.error(`${(error as Error).message.split('. ')[0]}. "-- --help" lists the options.`)
    process.exit(1)
  }
}
