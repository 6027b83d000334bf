import { chmod } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

// Builds the package @attestry/cli: bundles cli/partner-main.ts and everything that it imports, so that it needs no other package.
//   node build.mjs [folder]     default: dist

const folder = fileURLToPath(new URL('.', import.meta.url))
const outDir = resolve(process.argv[2] ?? join(folder, 'dist'))
await build({
  root: folder,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: 'partner-main.ts',
    outDir,
    emptyOutDir: true,
    target: 'node20',
    minify: false,
    rollupOptions: { output: { entryFileNames: 'attestry.js', chunkFileNames: '[name]-[hash].js' } },
  },
})
await chmod(join(outDir, 'attestry.js'), 0o755)
