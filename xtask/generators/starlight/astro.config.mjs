import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';

export default defineConfig({
  site: 'https://quay.test',
  redirects: { '/setup': '/install/' },
  integrations: [starlight({ title: 'Quay' })],
});
