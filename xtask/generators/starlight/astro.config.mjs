import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';

export default defineConfig({
  site: 'https://quay.test',
  redirects: { '/setup': '/install/' },
  integrations: [
    starlight({
      title: 'Quay',
      locales: { root: { label: 'English', lang: 'en' }, de: { label: 'Deutsch', lang: 'de' } },
      components: { Footer: './src/components/Footer.astro' },
      tableOfContents: { maxHeadingLevel: 3 },
      sidebar: [
        { label: 'Install', link: '/install/' },
        { label: 'Guides', autogenerate: { directory: 'guide' } },
        { label: 'HTTP interface', link: '/api/' },
        { label: 'Glossary', link: '/glossary/' },
        { label: 'Support', link: '/support/' },
        { label: 'Changelog', link: '/changelog/' },
      ],
    }),
  ],
});
