import { defineConfig } from 'vitepress'

export default defineConfig({
  title: 'Quay',
  description: 'Quay plans berths for small harbours.',
  lang: 'en',
  srcExclude: ['tabs.md', 'node_modules/**'],
  sitemap: { hostname: 'https://quay.test/' },
  themeConfig: {
    sidebar: [
      { text: 'Install', link: '/install' },
      { text: 'Moorings', link: '/guide/moorings' },
      { text: 'Tides', link: '/guide/tides' },
      { text: 'Pilots', link: '/guide/advanced/pilots' },
      { text: 'HTTP interface', link: '/api' },
      { text: 'Glossary', link: '/glossary' },
      { text: 'Support', link: '/support' },
      { text: 'Changelog', link: '/changelog' },
    ],
  },
})
