// Loaded with --import into the processes of the server, the command line and the tests, because resolving the imports of 2,000 modules
// takes most of the time of their start. Relative imports of TypeScript files are resolved without asking the file system for symbolic links
// and package.json files. Packages of hundreds of modules are loaded from the folder of bundled-packages.mjs. Plain JavaScript, because
// some tests start Node 20, where registerHooks does not exist.
import { readdirSync } from 'node:fs'
import module from 'node:module'
import { pathToFileURL } from 'node:url'

const ROOT_URL = new URL('../../', import.meta.url).href
const bundlesFolder = new URL(import.meta.url).searchParams.get('bundles')
const bundleNames = new Set(readdirSync(bundlesFolder, { recursive: true }))

module.registerHooks?.({
  resolve(specifier, context, nextResolve) {
    if (!context.parentURL?.startsWith(ROOT_URL) || !context.conditions.includes('import'))
      return nextResolve(specifier, context)
    if (specifier.startsWith('.') && specifier.endsWith('.ts') && !context.parentURL.includes('/node_modules/'))
      return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
    if (bundleNames.has(`${specifier}.mjs`))
      return { url: pathToFileURL(`${bundlesFolder}/${specifier}.mjs`).href, format: 'module', shortCircuit: true }
    return nextResolve(specifier, context)
  },
})
