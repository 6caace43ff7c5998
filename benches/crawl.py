"""usage: crawl.py SITEMAP_URL N

Fetches N pages of a sitemap with scrapy, politeness off, and keeps title and text of each.
Prints pages per second of wall time, crawling only.
"""

import sys
import time
import urllib.request
import xml.etree.ElementTree as tree

import scrapy
from scrapy.crawler import CrawlerProcess

where, most = sys.argv[1], int(sys.argv[2])
space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
found = tree.fromstring(urllib.request.urlopen(where).read())
urls = [entry.text for entry in found.iter(space + "loc")][:most]
pages = {}


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = urls

    def parse(self, response):
        text = " ".join(response.css("main ::text").getall())
        pages[response.url] = (response.css("title::text").get(), text)


process = CrawlerProcess(
    {
        "LOG_ENABLED": False,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
    }
)
began = time.perf_counter()
process.crawl(Pages)
process.start()
took = time.perf_counter() - began
assert len(pages) == len(urls), f"{len(pages)} of {len(urls)} pages"
print(len(pages) / took)
