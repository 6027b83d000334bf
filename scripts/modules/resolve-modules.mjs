// Loaded with --import into the processes of the server, the command line and the tests, because resolving the imports of 2,000 modules
// takes most of the time of their start. Relative imports of TypeScript files are resolved without asking the file system for symbolic links
// and package.json files. Packages of hundreds of modules are loaded from the folder of bundled-packages.mjs. Plain JavaScript, because
// some tests start Node 20, where registerHooks does not exist.
import { readdirSync } from 'node:fs'
import module from 'node:module'
import { pathToFileURL } from 'node:url'

const ROOT_URL = new URL('../../', import.meta.url).href
const { searchParams } = new URL(import.meta.url)
const bundlesFolder = searchParams.get('bundles')
const bundleNames = new Set(readdirSync(bundlesFolder, { recursive: true }))
const programFolder = searchParams.get('program')
/** The first modules of the programs, for which the folder has a bundle: server.mjs and cli.mjs. */
const PROGRAM_MODULE = /^(server|cli)\/main\.ts$/

module.registerHooks?.({
  resolve(specifier, context, nextResolve) {
    if (programFolder !== null && context.parentURL === undefined && specifier.startsWith(ROOT_URL)) {
      const [, program] = PROGRAM_MODULE.exec(specifier.slice(ROOT_URL.length)) ?? []
      if (program !== undefined)
        return { url: pathToFileURL(`${programFolder}/${program}.mjs`).href, format: 'module', shortCircuit: true }
    }
    if (!context.parentURL?.startsWith(ROOT_URL) || !context.conditions.includes('import'))
      return nextResolve(specifier, context)
    if (specifier.startsWith('.') && specifier.endsWith('.ts') && !context.parentURL.includes('/node_modules/'))
      return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
    if (bundleNames.has(`${specifier}.mjs`))
      return { url: pathToFileURL(`${bundlesFolder}/${specifier}.mjs`).href, format: 'module', shortCircuit: true }
    return nextResolve(specifier, context)
  },
})
