// Stops with one line when this Node cannot run the sources. Plain JavaScript, so that an old Node can read it.
'use strict'
var needed = require('../package.json').engines.node.replace('>=', '')

// True from 22.18 on: the sources are TypeScript and run without a build.
if (!process.features.typescript) {
  console.error('Touchline needs Node ' + needed + ' or newer; this is ' + process.version + ': https://nodejs.org')
  process.exit(1)
}

// Most of a start is compiling: what has been compiled is kept beside the packages.
require('node:module').enableCompileCache(
  require('node:path').join(__dirname, '../node_modules/.cache/touchline/compiled'),
)
