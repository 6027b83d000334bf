import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const web = fileURLToPath(new URL('.', import.meta.url))

/** Each folder with an index.html is a separate page. */
export const pages = readdirSync(web).filter((folder) => existsSync(`${web}${folder}/index.html`))

export default defineConfig({
  root: web,
  base: '/',
  publicDir: false,
  appType: 'mpa',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: ['es2020', 'chrome80', 'firefox78', 'safari14'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: true,
    sourcemap: false,
    rolldownOptions: {
      input: {
        ...Object.fromEntries(pages.map((page) => [page, `${web}${page}/index.html`])),
        // Served at /embed.js, for pages of other websites.
        'embed-script': `${web}embed-script/main.ts`,
      },
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        // Small modules of most pages: one request instead of three.
        codeSplitting: {
          groups: [{ name: 'shared', test: /vite\/preload-helper|web\/(?:(?:api|drafts|paths)\.ts$|branding\/)/ }],
        },
      },
    },
  },
})
