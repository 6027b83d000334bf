#!/usr/bin/env -S node --
import { install, runScript } from '../scripts/launch.mjs'

await install({ dev: false })
runScript('cli/main.ts', process.argv.slice(2))
